"""Reading one document: laid out, as a file, and as it once was."""

import posixpath
import re
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from glossary_site.numbers import number_in
from glossary_site.pages import wants_part
from projects.access import Action, project_for
from projects.choices import Format
from projects.document_facts import facts_of_one, notes_of
from projects.downloads import as_file
from projects.languages import language_of
from projects.models import Document, DocumentVersion, Project
from projects.panels import DOCUMENT_PANELS, panels_of
from projects.rendering.links import resolver
from projects.rendering.markdown import Rendered, TocEntry, render_plain
from projects.rendering.markdown import render as render_markdown
from projects.rendering.passage import Passage, passage_in
from projects.views.document_forms import RenameForm
from projects.views.documents import document_of
from projects.views.folders import folders_of
from projects.views.pages import project_context

# More headings than this are no overview any more: the deepest are left out first.
MAX_TOC = 200
# The beginning of one is enough to tell the versions of a document apart.
HASH = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True)
class TocNode:
    entry: TocEntry
    children: list["TocNode"] = field(default_factory=list)


@require_safe
def document(request: HttpRequest, project_id: int, document_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    if wants_part(request):
        return _news(request, project, document_id)
    context = project_context(request, project, "documents")
    document = document_of(project, document_id)
    newest = document.versions.select_related("author").defer("content").first()
    passage = _passage(request)
    context |= _reading(document, document.content, document.format, passage)
    context |= {
        "version": newest,
        "notes": _notes(newest),
        "panels": panels_of(request, document, DOCUMENT_PANELS),
        "meant": _meant(request, document) if passage else None,
        "facts": facts_of_one(document),
        "rename_form": RenameForm(initial={"path": document.path}),
        "previous": _neighbours(document).filter(path__lt=document.path).last(),
        "next": _neighbours(document).filter(path__gt=document.path).first(),
    }
    response = render(request, "documents/document.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _news(request: HttpRequest, project: Project, document_id: int) -> HttpResponse:
    """For a page that stays open: whether what it shows is still the document."""
    document = project.documents.listed().filter(pk=document_id).first()
    context = {
        "project": project,
        "document": document,
        "document_id": document_id,
        "seen": request.GET.get("seen", ""),
    }
    response = render(request, "documents/_news.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_safe
def version(request: HttpRequest, project_id: int, document_id: int, number: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "documents")
    document = document_of(project, document_id)
    version = get_object_or_404(document.versions.select_related("author"), number=number)
    context |= _reading(document, version.content, version.format, _passage(request))
    context |= {
        "version": version,
        "notes": _notes(version),
        "is_old": number != document.version,
    }
    return render(request, "documents/version.html", context)


@require_safe
def raw(request: HttpRequest, project_id: int, document_id: int) -> HttpResponse:
    """The text as a file, never shown by the browser itself; `?version=` for an earlier one."""
    project = project_for(request.user, project_id, Action.VIEW)
    document = document_of(project, document_id)
    text: Document | DocumentVersion = document
    if number := request.GET.get("version"):
        text = get_object_or_404(document.versions, number=number_in(number))
    return as_file(text, document.path)


def _passage(request: HttpRequest) -> Passage | None:
    """`?lines=12-20`: what a search found, for instance."""
    return passage_in(request.GET.get("lines", ""))


def _meant(request: HttpRequest, document: Document) -> DocumentVersion | None:
    """The version whose lines were meant, if it is not the present one: `?hash=` says which text
    the link was made for. None where it is the present one, or nobody knows."""
    hash = request.GET.get("hash", "")
    if not HASH.fullmatch(hash) or document.file_hash.startswith(hash):
        return None
    return document.versions.filter(file_hash__startswith=hash).defer("content").first()


def _notes(version: DocumentVersion | None) -> list[SafeString]:
    return notes_of([version])[version.number] if version else []


def _reading(
    document: Document, content: str, format: str, passage: Passage | None
) -> dict[str, Any]:
    if format == Format.TEXT:
        rendered = render_plain(content, passage=passage)
    else:
        resolve = resolver(document.project, document.path)
        rendered = render_markdown(content, resolve=resolve, passage=passage)
    title = rendered.title
    return {
        "document": document,
        "passage": passage,
        "title_is_marked": bool(passage and title and passage.touches(title.line, title.line)),
        "rendered": rendered,
        "title": title.text if title else document.title,
        "is_text": format == Format.TEXT,
        "toc": toc_tree(rendered),
        "language": language_of(content),
        "folders": folders_of(document.path),
        "name": posixpath.basename(document.path),
    }


def toc_tree(rendered: Rendered, limit: int = MAX_TOC) -> list[TocNode]:
    entries = rendered.toc
    depth = 6
    while len(entries) > limit and depth:
        depth -= 1
        entries = [entry for entry in entries if entry.depth <= depth]
    top: list[TocNode] = []
    open_nodes: list[TocNode] = []
    for entry in entries[:limit]:
        node = TocNode(entry)
        del open_nodes[entry.depth :]
        (open_nodes[-1].children if open_nodes else top).append(node)
        open_nodes.append(node)
    return top


def _neighbours(document: Document) -> Any:
    return document.project.documents.listed().order_by("path")
