"""A project's live feed: who may read it, and what a page that opens it is shown first."""

from typing import Any

from projects.access import Action, Actor, can
from projects.models import Project

# The news after which an open feed looks at its reader's access again.
ACCESS_EVENTS = frozenset({"member.changed", "member.removed", "project.deleted"})


def stream_of(project_id: int) -> str:
    return Project(pk=project_id).stream


def may_read(actor: Actor, project_id: int) -> bool:
    project = Project.objects.filter(pk=project_id).first()
    return project is not None and can(actor, Action.VIEW, project)


def snapshot(project_id: int) -> dict[str, Any]:
    project = Project.objects.get(pk=project_id)
    return {
        "project": {"id": project.pk, "name": project.name},
        "documents": project.documents.count(),
        "members": project.memberships.count(),
    }
