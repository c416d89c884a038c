"""The versions of a document, and what changed between two of them."""

from django.db.models import F, Window
from django.db.models.functions import Lag
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from glossary_site.numbers import number_in
from glossary_site.pages import Column, Listing, render_page
from projects.access import Action, project_for
from projects.document_facts import notes_of
from projects.models import Document, DocumentVersion
from projects.rendering.diff import compare
from projects.views.documents import document_of
from projects.views.folders import folders_of
from projects.views.pages import project_context

COLUMNS = [
    Column("version", _("Version"), order_by="number", kind="time"),
    Column("time", _("Time")),
    Column("author", _("Author")),
    Column("source", _("Source")),
    Column("size", _("Size"), kind="number"),
    Column("hash", _("SHA-256")),
]


@require_safe
def history(request: HttpRequest, project_id: int, document_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "documents")
    document = document_of(project, document_id)
    before = Window(Lag("byte_size"), order_by=F("number").asc())
    rows = document.versions.select_related("author").defer("content").annotate(before=before)
    listing = Listing(request, rows, COLUMNS, default="-version")
    versions = list(listing.page)
    notes = notes_of(versions)
    context |= {
        "document": document,
        "folders": folders_of(document.path),
        "listing": listing,
        "versions": [_row(version, notes[version.number]) for version in versions],
    }
    return render_page(request, "documents/history.html", "documents/_history.html", context)


def _row(version: DocumentVersion, notes: list[SafeString]) -> dict[str, object]:
    before: int | None = version.before  # type: ignore[attr-defined]
    grown = None if before is None else version.byte_size - before
    return {
        "version": version,
        "notes": notes,
        "grown": grown,
        "size_of_change": abs(grown or 0),
    }


@require_safe
def diff(request: HttpRequest, project_id: int, document_id: int) -> HttpResponse:
    """`?from=2&to=5`, in either order; by default the newest version and the one before."""
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "documents")
    document = document_of(project, document_id)
    newest = _number(request, "to", document, document.version)
    oldest = _number(request, "from", document, max(newest - 1, 1))
    oldest, newest = sorted((oldest, newest))
    versions = document.versions.select_related("author").filter(number__in=[oldest, newest])
    texts = {version.number: version for version in versions}
    old, new = texts[oldest], texts[newest]
    context |= {
        "document": document,
        "folders": folders_of(document.path),
        "old": old,
        "new": new,
        "diff": compare(old.content, new.content),
    }
    return render(request, "documents/diff.html", context)


def _number(request: HttpRequest, key: str, document: Document, default: int) -> int:
    """A version that exists: an address from before a mistake in it still shows something."""
    number = number_in(request.GET.get(key, "")) or 0
    return number if 1 <= number <= document.version else default
