"""What happened in a project, newest first."""

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from glossary_site.live.models import Event
from glossary_site.pages import Column, Listing, render_page
from projects.access import Action, project_for
from projects.models import Project
from projects.news import PROGRESS, News, news_of
from projects.views.pages import project_context

RECENT = 6


def events_of(project: Project) -> QuerySet[Event]:
    """Without the progress of background work, which has a page of its own."""
    return Event.objects.filter(stream__name=project.stream).exclude(PROGRESS)


def recent_news(project: Project) -> list[News]:
    return [news_of(event, project.pk) for event in events_of(project).order_by("-number")[:RECENT]]


@require_safe
def activity(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "activity")
    number = Column("number", "", order_by="number", kind="number")
    listing = Listing(request, events_of(project), [number], default="-number")
    context |= {"listing": listing, "news": [news_of(event, project.pk) for event in listing.page]}
    return render_page(request, "projects/activity.html", "projects/_activity.html", context)
