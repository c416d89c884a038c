"""Searching the documents of a project, or of all projects that somebody may see."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from glossary_site.errors import Refusal
from glossary_site.pages import render_page, wants_part
from indexing.choices import Freshness, Mode
from indexing.models import IndexRequest
from indexing.search.options import FURTHEST_OFFSET, SearchPage, SearchResult
from indexing.search.service import search
from indexing.views.asking import Asked
from projects.access import Action, project_for, visible_projects
from projects.languages import language_of
from projects.rendering.passage import Passage
from projects.views.pages import project_context

# As many characters of a hash as a link needs to name a text.
HASH_LENGTH = 12
DEPTHS = [
    (None, _("Any section")),
    (0, _("Whole documents")),
    *((depth, f"h{depth}") for depth in range(1, 7)),
]


@dataclass(frozen=True)
class Line:
    """A result as the page shows it."""

    result: SearchResult
    folder: str
    name: str
    above: tuple[str, ...]
    heading: str
    snippet: SafeString
    language: str
    url: str


def line_of(result: SearchResult) -> Line:
    folder, slash, name = result.document_path.rpartition("/")
    passage = Passage(result.line_start, result.line_end)
    asked = urlencode(
        {
            "lines": f"{passage.first}-{passage.last}",
            "hash": result.document_hash[:HASH_LENGTH],
        }
    )
    page = reverse("document", args=[result.project_id, result.document_id])
    return Line(
        result=result,
        folder=folder + slash,
        name=name,
        above=result.heading_path[:-1],
        heading=result.heading or result.document_title,
        snippet=mark_safe(result.snippet_html),  # noqa: S308  # escaped where it was made
        language=language_of(result.snippet or result.heading),
        url=f"{page}?{asked}#{passage.anchor}",
    )


@require_safe
def project_search(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "search")
    context |= _answer(request, (project.pk,))
    return _page(request, "indexing/search.html", context)


@require_safe
def search_everywhere(request: HttpRequest) -> HttpResponse:
    projects = visible_projects(request.user)
    context = {"nav": "search", "project_count": projects.count()}
    context |= _answer(request, tuple(projects.order_by("pk").values_list("pk", flat=True)))
    return _page(request, "indexing/search_everywhere.html", context)


def _answer(request: HttpRequest, project_ids: tuple[int, ...]) -> dict[str, Any]:
    asked = Asked.by(request)
    page: SearchPage | None = None
    refusal: Refusal | None = None
    if asked.query:
        try:
            page = search(asked.options(project_ids))
        except Refusal as error:
            refusal = error
    return {
        "asked": asked,
        "found": page,
        "refusal": refusal,
        "lines": [line_of(result) for result in page.results] if page else [],
        # What is found may change soon: then the page asks again by itself.
        "is_settled": bool(page and page.results and all(map(_is_settled, page.results))),
        "waiting": _waiting(project_ids),
        "modes": Mode.choices,
        "freshnesses": [choice for choice in Freshness.choices if choice[0] != SAME],
        "depths": DEPTHS,
        **_pages(request, asked, page),
    }


# Another name of an older choice; people need one.
SAME = Freshness.COMPLETED_ONLY


def _is_settled(result: SearchResult) -> bool:
    return result.is_latest and not result.has_pending_update


def _waiting(project_ids: tuple[int, ...]) -> int:
    """Documents whose newest text cannot be found yet."""
    requests = IndexRequest.objects.open().filter(project_id__in=project_ids)
    return requests.order_by().values("document").distinct().count()


def _pages(request: HttpRequest, asked: Asked, page: SearchPage | None) -> dict[str, Any]:
    address = asked.address(request.path, page=asked.page)
    if page is None:
        return {"address": address, "previous_url": "", "next_url": ""}
    last = asked.offset + len(page.results)
    before = asked.address(request.path, page=asked.page - 1) if asked.page > 1 else ""
    after = asked.address(request.path, page=asked.page + 1)
    return {
        "address": address,
        "first": asked.offset + 1,
        "last": last,
        "previous_url": before,
        "next_url": after if last < min(page.total, FURTHEST_OFFSET) else "",
    }


def _page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render_page(request, template, "indexing/_results.html", context)
    if wants_part(request):
        # The address of what is shown, to come back to and to pass on; as one types it is replaced.
        response["HX-Replace-Url"] = context["address"]
    return response
