"""Which projects somebody means, at a terminal or through an assistant."""

from unicodedata import normalize

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from glossary_site.api.views import BIGGEST_ID
from glossary_site.errors import Refusal
from projects.access import Action, Actor, project_for, visible_projects
from projects.models import Project
from projects.services.projects import create_project

NO_SUCH_PROJECT = "no_such_project"


def project_named(wanted: str, actor: Actor, action: Action = Action.VIEW) -> Project:
    """The project of that name, else of that id, if the actor may do this in it."""
    name = normalize("NFC", wanted).strip()
    visible = visible_projects(actor)
    project = visible.filter(name__iexact=name).first()
    if project is None and name.isdecimal() and len(name) <= len(str(BIGGEST_ID)):
        project = visible.filter(pk=int(name)).first()
    if project is None:
        raise Refusal(
            NO_SUCH_PROJECT,
            _("There is no project “%(name)s” that you may see.") % {"name": wanted},
            status=404,
        )
    return project_for(actor, project.pk, action)


def project_or_new(
    wanted: str, actor: Actor, action: Action, *, create: bool
) -> tuple[Project, bool]:
    """The same; made now where there is none, if that is wished for. And whether it was made."""
    try:
        return project_named(wanted, actor, action), False
    except Refusal as refusal:
        if refusal.code != NO_SUCH_PROJECT:
            raise
        if not create:
            advice = _("Make it with --create.")
            raise Refusal(NO_SUCH_PROJECT, f"{refusal} {advice}", status=404) from refusal
    name = normalize("NFC", wanted).strip()
    try:
        Project(name=name).clean_fields()
    except ValidationError as error:
        raise Refusal("bad_name", "; ".join(error.messages), status=400) from error
    return create_project(actor=actor, name=name), True


def projects_meant(wanted: str | None, actor: Actor) -> list[Project]:
    """The one that was named, or all that the actor may see."""
    return [project_named(wanted, actor)] if wanted else list(visible_projects(actor))
