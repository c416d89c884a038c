"""The list of a project's documents, and what can be done to one or several of them."""

import posixpath
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from glossary_site.errors import Refusal
from glossary_site.numbers import number_in
from glossary_site.pages import Column, Listing, query_of, render_page
from projects.access import Action, project_for
from projects.document_facts import FACTS, Cell, facts_of_many
from projects.models import Document, Project
from projects.services.documents import delete_documents, rename_document
from projects.views.document_forms import RenameForm
from projects.views.folders import folders_of
from projects.views.pages import project_context

COLUMNS = [
    Column("path", gettext_lazy("Path"), order_by="path"),
    Column("title", gettext_lazy("Title"), order_by="title"),
    Column("size", gettext_lazy("Size"), order_by="byte_size", kind="number"),
    Column("versions", gettext_lazy("Versions"), order_by="version", kind="number"),
    Column("source", gettext_lazy("Source"), order_by="source"),
    Column("changed", gettext_lazy("Changed"), order_by="updated_at", kind="time"),
]
# A confirmation names this many; nobody reads more before pressing the button.
NAMED = 20


@dataclass(frozen=True)
class Row:
    document: Document
    folder: str
    name: str
    facts: list[Cell]


def rows_of(documents: list[Document]) -> list[Row]:
    facts = facts_of_many(documents)
    return [row_of(document, facts[document.pk]) for document in documents]


def row_of(document: Document, facts: list[Cell]) -> Row:
    folder, name = posixpath.split(document.path)
    return Row(document, f"{folder}/" if folder else "", name, facts)


def document_of(project: Project, document_id: int) -> Document:
    documents = Document.objects.select_related("project")
    return get_object_or_404(documents, project=project, pk=document_id)


@require_safe
def document_list(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "documents")
    documents = project.documents.listed()
    if query := query_of(request):
        documents = documents.matching(query)
    columns = [*COLUMNS, *(Column(fact.key, fact.label) for fact in FACTS)]
    listing = Listing(request, documents, columns, default="path")
    context |= {
        "listing": listing,
        "rows": rows_of(list(listing.page)),
        "live_also": [fact.live for fact in FACTS],
    }
    return render_page(request, "documents/list.html", "documents/_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def rename(request: HttpRequest, project_id: int, document_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    document = document_of(project, document_id)
    sent = request.method == "POST"
    form = RenameForm(request.POST if sent else None, initial={"path": document.path})
    if sent and form.is_valid():
        before = document.path
        try:
            rename_document(document=document, path=form.cleaned_data["path"], actor=request.user)
        except Refusal as refusal:
            form.add_error("path", str(refusal))
        else:
            if document.path != before:
                messages.success(request, _("Renamed to “%(path)s”.") % {"path": document.path})
            return redirect(document)
    context = project_context(request, project, "documents")
    context |= {"document": document, "form": form, "folders": folders_of(document.path)}
    return render(request, "documents/rename.html", context, status=422 if sent else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, project_id: int, document_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    document = document_of(project, document_id)
    return _delete(request, project, [document.pk], back=document.get_absolute_url())


@require_http_methods(["GET", "HEAD", "POST"])
def delete_several(request: HttpRequest, project_id: int) -> HttpResponse:
    """The list sends the chosen ids here: first to be asked (GET), then to delete (POST)."""
    project = project_for(request.user, project_id, Action.EDIT)
    chosen = request.POST if request.method == "POST" else request.GET
    ids = [pk for pk in map(number_in, chosen.getlist("ids")) if pk is not None]
    return _delete(request, project, ids, back="")


def _delete(request: HttpRequest, project: Project, ids: list[int], *, back: str) -> HttpResponse:
    if request.method == "POST":
        count = delete_documents(project=project, ids=ids, actor=request.user)
        _say_deleted(request, count)
        return redirect("document-list", project.pk)
    documents = list(project.documents.listed().filter(pk__in=ids).order_by("path"))
    if not documents:
        messages.warning(request, _("Choose the documents to delete first."))
        return redirect("document-list", project.pk)
    context: dict[str, Any] = project_context(request, project, "documents")
    context |= {
        "documents": documents,
        "named": documents[:NAMED],
        "unnamed": len(documents) - len(documents[:NAMED]),
        "versions": sum(document.version for document in documents),
        "back": back,
    }
    return render(request, "documents/delete.html", context)


def _say_deleted(request: HttpRequest, count: int) -> None:
    if count:
        words = ngettext("%(n)d document was deleted.", "%(n)d documents were deleted.", count)
        messages.success(request, words % {"n": count})
    else:
        messages.info(request, _("Nothing was left to delete: somebody else was faster."))
