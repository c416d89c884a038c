"""The frame of a project's pages."""

from typing import Any

from django.http import HttpRequest

from glossary_site.live import reading
from projects.access import Action, allows, role_of
from projects.models import Project
from projects.work import runs_of


def project_context(request: HttpRequest, project: Project, tab: str) -> dict[str, Any]:
    """What projects/base.html needs. Call it before reading anything else of the project: an event
    that comes while the page is made then arrives by the feed, and is never missed."""
    live_after = reading.position(project.stream).last
    role = role_of(request.user, project)
    return {
        "project": project,
        "nav": "projects",
        "tab": tab,
        "live_after": live_after,
        "role": role,
        "can_edit": allows(role, Action.EDIT),
        "can_manage": allows(role, Action.MANAGE),
        "document_count": project.documents.count(),
        "member_count": project.memberships.count(),
        "active_work": runs_of(project).active().count(),
    }
