"""Who may do what: the one function that every page, endpoint, socket and command asks.

An outsider is told that a project does not exist; a member without the role is told which role it
takes. Commands run on the machine itself act as `OPERATOR`, or as a person with `--as`.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _

from glossary_site.people.models import User
from projects.choices import ROLE_ORDER, Role
from projects.models import Membership, Project
from projects.querysets import ProjectQuerySet


class Action(Enum):
    """What can be done in a project, with the least role that may do it."""

    VIEW = Role.VIEWER
    # Documents, terms and the glossary; and runs, which may cost money, within the budget.
    EDIT = Role.EDITOR
    # Settings, members and the end of a project are its owners' business.
    MANAGE = Role.OWNER


@dataclass(frozen=True)
class Operator:
    """Whoever runs a command on the machine: may do everything, and is nobody in the history."""


OPERATOR: Final = Operator()
Actor = User | AnonymousUser | Operator


def is_superuser(actor: Actor) -> bool:
    return isinstance(actor, Operator) or bool(actor.is_active and actor.is_superuser)


def role_of(actor: Actor, project: Project) -> Role | None:
    if is_superuser(actor):
        return Role.OWNER
    if not isinstance(actor, User) or not actor.is_active:
        return None
    role = Membership.objects.filter(project=project, user=actor).values_list("role", flat=True)
    return Role(role[0]) if role else None


def allows(role: Role | None, action: Action) -> bool:
    return role is not None and ROLE_ORDER.index(role) >= ROLE_ORDER.index(action.value)


def can(actor: Actor, action: Action, project: Project) -> bool:
    return allows(role_of(actor, project), action)


def visible_projects(actor: Actor) -> ProjectQuerySet:
    if is_superuser(actor):
        return Project.objects.all()
    if not isinstance(actor, User) or not actor.is_active:
        return Project.objects.none()
    return Project.objects.filter(memberships__user=actor)


def project_for(actor: Actor, project_id: int, action: Action = Action.VIEW) -> Project:
    """The project, if the actor may do this in it; else 404 for outsiders, 403 for members."""
    project = Project.objects.filter(pk=project_id).first()
    role = role_of(actor, project) if project else None
    if project is None or role is None:
        raise Http404(_("There is no such project, or you are not a member of it."))
    if not allows(role, action):
        raise PermissionDenied(
            _("This needs the role “%(role)s” in the project.") % {"role": action.value.label}
        )
    return project


def author_of(actor: Actor) -> User | None:
    """The person to write into the history; a command run by the operator has none."""
    return actor if isinstance(actor, User) else None


def name_of(actor: Actor) -> str:
    """What the news call the author; empty where there is none."""
    return str(author_of(actor) or "")
