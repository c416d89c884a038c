"""Who belongs to a project. It always keeps at least one owner."""

from django.db import transaction
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.live.services import publish
from glossary_site.people.models import User
from projects.access import Actor, name_of
from projects.choices import Role
from projects.models import Membership, Project


@transaction.atomic
def add_member(*, project: Project, username: str, role: Role, actor: Actor) -> Membership:
    """Invite somebody who already has an account."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise Refusal(
            "user_unknown",
            _("Nobody here is called “%(name)s”. An administrator can make the account.")
            % {"name": username},
            status=400,
        )
    membership, created = Membership.objects.get_or_create(
        project=project, user=user, defaults={"role": role}
    )
    if not created:
        raise Refusal(
            "already_member",
            _("“%(name)s” is already a member of this project.") % {"name": username},
        )
    _publish("member.added", membership, actor)
    return membership


@transaction.atomic
def change_role(*, membership: Membership, role: Role, actor: Actor) -> Membership:
    if membership.role == role:
        return membership
    if role != Role.OWNER:
        _keep_an_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    _publish("member.changed", membership, actor)
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, actor: Actor) -> None:
    _keep_an_owner(membership)
    membership.delete()
    _publish("member.removed", membership, actor)


def _keep_an_owner(leaving: Membership) -> None:
    # The project's row is the lock: two owners who demote each other at once must not both succeed.
    Project.objects.select_for_update(no_key=True).get(pk=leaving.project_id)
    owners = Membership.objects.filter(project=leaving.project_id, role=Role.OWNER)
    if owners.filter(pk=leaving.pk).exists() and not owners.exclude(pk=leaving.pk).exists():
        raise Refusal(
            "last_owner", _("A project needs an owner. Make somebody else an owner first.")
        )


def _publish(type: str, membership: Membership, actor: Actor) -> None:
    publish(
        membership.project.stream,
        type,
        {"user": membership.user.username, "role": membership.role, "by": name_of(actor)},
    )
