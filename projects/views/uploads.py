"""Adding documents: files and folders, or a text that is pasted."""

import posixpath
from collections import Counter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from glossary_site.errors import Refusal
from projects.access import Action, project_for
from projects.choices import Outcome, Source
from projects.intake.errors import readable_size
from projects.intake.files import Incoming, Rejected
from projects.intake.reader import read
from projects.limits import limits
from projects.models import Project
from projects.services.documents import Stored, store_documents
from projects.uploads import incoming_from_request
from projects.views.document_forms import PasteForm
from projects.views.pages import project_context


@require_safe
def add(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    return _add_page(request, project, PasteForm())


def _add_page(
    request: HttpRequest, project: Project, form: PasteForm, *, upload_error: str = ""
) -> HttpResponse:
    bounds = limits()
    context = project_context(request, project, "documents")
    context |= {
        "form": form,
        "upload_error": upload_error,
        "limits": bounds,
        "max_file": readable_size(bounds.max_file_bytes),
        "max_archive": readable_size(bounds.max_archive_bytes),
    }
    wrong = bool(upload_error or form.errors)
    return render(request, "documents/add.html", context, status=422 if wrong else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, project_id: int) -> HttpResponse:
    """Takes a form with files, or a batch of them from upload.js, which wants only the rows."""
    project = project_for(request.user, project_id, Action.EDIT)
    if request.method != "POST":
        return redirect("document-add", project.pk)
    files = request.FILES.getlist("files")
    if not files:
        return _add_page(request, project, PasteForm(), upload_error=_("Choose at least one file."))
    results: list[Stored | Rejected] = []
    refusal: Refusal | None = None
    try:
        incoming = incoming_from_request(files, request.POST.getlist("paths"))
        drafts = read(incoming, limits())
        # One by one, so that what is stored is told even when a later file stops the rest.
        for result in store_documents(
            project=project, drafts=drafts, source=Source.UPLOAD, actor=request.user
        ):
            results.append(result)
    except Refusal as error:
        refusal = error
    status = refusal.status if refusal else 200
    context: dict[str, Any] = {
        "project": project,
        "results": results,
        "refusal": refusal,
    }
    if request.headers.get("X-Requested-With") == "XMLHttpRequest":
        return render(request, "documents/_results.html", context, status=status)
    counts = Counter(result.outcome for result in results)
    context |= project_context(request, project, "documents")
    context |= {"counts": {outcome: counts[outcome] for outcome in Outcome}}
    return render(request, "documents/results.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def paste(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    if request.method != "POST":
        return redirect("document-add", project.pk)
    form = PasteForm(request.POST)
    if not form.is_valid():
        return _add_page(request, project, form)
    path: str = form.cleaned_data["path"]
    if path.endswith("/"):
        form.add_error("path", _("Say how the document is to be called in this folder."))
        return _add_page(request, project, form)
    if not posixpath.splitext(path)[1]:
        path += ".md"
    # Browsers send the line ends of DOS.
    text = form.cleaned_data["text"].replace("\r\n", "\n")
    drafts = read([Incoming.from_bytes(path, text.encode())], limits())
    try:
        results = list(
            store_documents(project=project, drafts=drafts, source=Source.PASTE, actor=request.user)
        )
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        return _add_page(request, project, form)
    if len(results) != 1:
        # The name of a file that systems leave behind, which an upload silently skips.
        form.add_error("path", _("Files with this name are skipped. Choose another name."))
        return _add_page(request, project, form)
    (result,) = results
    if isinstance(result, Rejected):
        about_path = result.code.startswith(("path_", "unsupported_"))
        form.add_error("path" if about_path else "text", result.message)
        return _add_page(request, project, form)
    level = messages.INFO if result.outcome == Outcome.UNCHANGED else messages.SUCCESS
    messages.add_message(request, level, _said(result))
    return redirect("document", project.pk, result.document_id)


def _said(stored: Stored) -> str:
    sentences = {
        Outcome.CREATED: _("“%(path)s” was added."),
        Outcome.UPDATED: _("“%(path)s” has a new version: %(version)d."),
        Outcome.UNCHANGED: _("“%(path)s” already has exactly this text; nothing changed."),
    }
    return sentences[stored.outcome] % {"path": stored.path, "version": stored.version}
