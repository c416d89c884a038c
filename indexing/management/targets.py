"""Which projects somebody means, at a terminal or through an assistant."""

from unicodedata import normalize

from django.utils.translation import gettext as _

from glossary_site.api.views import BIGGEST_ID
from glossary_site.errors import Refusal
from projects.access import Action, Actor, project_for, visible_projects
from projects.models import Project


def project_named(wanted: str, actor: Actor, action: Action = Action.VIEW) -> Project:
    """The project of that name, else of that id, if the actor may do this in it."""
    name = normalize("NFC", wanted).strip()
    visible = visible_projects(actor)
    project = visible.filter(name__iexact=name).first()
    if project is None and name.isdecimal() and len(name) <= len(str(BIGGEST_ID)):
        project = visible.filter(pk=int(name)).first()
    if project is None:
        raise Refusal(
            "no_such_project",
            _("There is no project “%(name)s” that you may see.") % {"name": wanted},
            status=404,
        )
    return project_for(actor, project.pk, action)


def projects_meant(wanted: str | None, actor: Actor) -> list[Project]:
    """The one that was named, or all that the actor may see."""
    return [project_named(wanted, actor)] if wanted else list(visible_projects(actor))
