"""One entry of the glossary: what it says, what it rests on, how it came to be, and editing it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Max, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from glossary_site.errors import Refusal
from glossary_site.pages import Column, Listing, render_page
from projects.access import Action, project_for
from projects.categories import categories_of
from projects.choices import Change
from projects.forms_glossary import EntryForm, initial_of
from projects.languages import language_of
from projects.models import Document, EntryRevision, GlossaryEntry, Project, Term
from projects.order import by_index
from projects.rendering.plain import plain_quote
from projects.services.glossary import delete_entry, edit_entry, undo, undo_batch, unlock
from projects.terms.keys import key_of
from projects.views.conflicts import Conflict, put_together
from projects.views.glossary import field_of
from projects.views.linking import linked
from projects.views.pages import project_context
from projects.views.places import lines_url
from projects.views.revisions import FIELD_NAMES, batches_of, rows_of

# The page shows the newest; all of them are in the glossary's history.
REVISIONS = 20
HISTORY_COLUMNS = [Column("time", gettext_lazy("Time"), order_by="last", kind="time")]


@dataclass(frozen=True)
class Evidence:
    """A quote with its place. No address where the document is gone."""

    quote: str
    path: str
    headings: list[str]
    first: int
    last: int
    url: str
    has_changed: bool
    language: str


@dataclass(frozen=True)
class Name:
    text: str
    entry: GlossaryEntry | None


def entry_of(project: Project, entry_id: int) -> GlossaryEntry:
    return get_object_or_404(
        GlossaryEntry.objects.select_related("project"), project=project, pk=entry_id
    )


@require_safe
def entry(request: HttpRequest, project_id: int, entry_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context: dict[str, Any] = project_context(request, project, "glossary")
    entry = entry_of(project, entry_id)
    labels = {each.key: each.label for each in categories_of(project)}
    revisions = entry.revisions.select_related("author")
    context |= {
        "entry": entry,
        "category": labels.get(entry.category, entry.category),
        "term": Term.objects.listed().filter(project=project, key=entry.key).first(),
        "definition": linked(entry),
        "related": _names(project, entry),
        "evidence": _evidence(project, entry),
        "rewritten": _rewritten(entry),
        "locks": [(name, FIELD_NAMES[name]) for name in entry.locked if name in FIELD_NAMES],
        "revisions": rows_of(revisions[:REVISIONS], labels),
        "revision_count": revisions.count(),
        "previous": _neighbour(entry, after=False),
        "next": _neighbour(entry, after=True),
        "page_shortcuts": "glossary/_entry_shortcuts.html",
    }
    return render_page(request, "glossary/entry.html", "glossary/_entry.html", context)


def _names(project: Project, entry: GlossaryEntry) -> list[Name]:
    keys = {text: key_of(text) for text in entry.related}
    entries = project.entries.listed().filter(key__in=keys.values())
    by_key = {other.key: other for other in entries}
    return [Name(text, by_key.get(key)) for text, key in keys.items()]


def _evidence(project: Project, entry: GlossaryEntry) -> list[Evidence]:
    ids = [piece.get("document_id") for piece in entry.evidence]
    documents = project.documents.listed().in_bulk([pk for pk in ids if pk is not None])
    return [_piece(piece, documents.get(piece.get("document_id"))) for piece in entry.evidence]


def _rewritten(entry: GlossaryEntry) -> EntryRevision | None:
    """Where a person wrote these words, and the quotes were found for others. Whoever had the very
    words first counts: an undo, or typing them again, makes them nobody else's."""
    if not entry.evidence:
        return None
    said = entry.revisions.filter(after__definition=entry.definition)
    first = said.select_related("author").order_by("pk").first()
    return first if first and first.change in (Change.CREATED, Change.EDITED) else None


def _piece(piece: dict[str, Any], document: Document | None) -> Evidence:
    first = piece.get("line_start") or 1
    last = piece.get("line_end") or first
    hash = piece.get("file_hash", "")
    url = ""
    if document is not None:
        url = lines_url(
            project_id=document.project_id,
            document_id=document.pk,
            first=first,
            last=last,
            file_hash=hash,
        )
    return Evidence(
        quote=plain_quote(piece.get("quote", "")),
        path=document.path if document else piece.get("path", ""),
        headings=list(piece.get("heading_path") or []),
        first=first,
        last=last,
        url=url,
        has_changed=document is not None and document.file_hash != hash,
        language=language_of(piece.get("quote", "")),
    )


def _neighbour(entry: GlossaryEntry, *, after: bool) -> GlossaryEntry | None:
    """In the order of the glossary."""
    placed = GlossaryEntry.objects.annotate(place=by_index()).filter(project=entry.project)
    rows = placed.only("project", "term", "language")
    here = Subquery(placed.filter(pk=entry.pk).values("place"))
    if after:
        there = rows.filter(place__gte=here).exclude(place=here, pk__lte=entry.pk)
        return there.order_by("place", "pk").first()
    there = rows.filter(place__lte=here).exclude(place=here, pk__gte=entry.pk)
    return there.order_by("-place", "-pk").first()


# ---- Editing ------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def entry_edit(request: HttpRequest, project_id: int, entry_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    entry = entry_of(project, entry_id)
    categories = [(each.key, each.label) for each in categories_of(project)]
    if request.method != "POST":
        form = EntryForm(categories=categories, initial=initial_of(entry))
        return _edit_page(request, entry, form)
    form = EntryForm(request.POST, categories=categories, initial=initial_of(entry))
    if not form.is_valid():
        return _edit_page(request, entry, form, status=422)
    try:
        edit_entry(
            entry=entry,
            actor=request.user,
            version=form.cleaned_data["version"] or entry.version,
            **form.entry_fields,
        )
    except Refusal as refusal:
        if refusal.code == "entry_changed":
            return _conflict(request, project, entry, form, categories)
        form.add_error(field_of(refusal), str(refusal))
        return _edit_page(request, entry, form, status=422)
    messages.success(request, _("Saved."))
    return redirect(entry)


def _edit_page(
    request: HttpRequest,
    entry: GlossaryEntry,
    form: EntryForm,
    *,
    status: int = 200,
    conflicts: list[Conflict] | None = None,
    newest: EntryRevision | None = None,
) -> HttpResponse:
    context: dict[str, Any] = project_context(request, entry.project, "glossary")
    context |= {"entry": entry, "form": form, "conflicts": conflicts, "newest": newest}
    return render(request, "glossary/edit.html", context, status=status)


def _conflict(
    request: HttpRequest,
    project: Project,
    stale: GlossaryEntry,
    form: EntryForm,
    categories: list[tuple[str, Any]],
) -> HttpResponse:
    """Somebody was faster. Saving again then is a choice."""
    entry = entry_of(project, stale.pk)
    seen = entry.revisions.filter(number=form.cleaned_data["version"] or 0).first()
    merged, conflicts = put_together(
        seen=(seen.after if seen else None) or {},
        theirs=initial_of(entry),
        mine=form.entry_fields,
        labels=FIELD_NAMES,
    )
    again = EntryForm(categories=categories, initial={**initial_of(entry), **merged})
    newest = entry.revisions.select_related("author").first()
    return _edit_page(request, entry, again, status=409, conflicts=conflicts, newest=newest)


@require_POST
def entry_unlock(request: HttpRequest, project_id: int, entry_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    entry = entry_of(project, entry_id)
    field = request.POST.get("field", "")
    try:
        unlock(entry=entry, field=field, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("project-glossary", project.pk)
    if field in entry.locked:
        messages.success(request, _("The next run that is published may write this field again."))
    return redirect(entry)


@require_POST
def entry_reviewed(request: HttpRequest, project_id: int, entry_id: int) -> HttpResponse:
    """Somebody has read it and finds it good as it is."""
    project = project_for(request.user, project_id, Action.EDIT)
    entry = entry_of(project, entry_id)
    try:
        edit_entry(entry=entry, actor=request.user, version=entry.version, needs_review=False)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Marked as reviewed."))
    return redirect(entry)


@require_POST
def entry_delete(request: HttpRequest, project_id: int, entry_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    entry = entry_of(project, entry_id)
    try:
        delete_entry(entry=entry, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("project-glossary", project.pk)
    history = reverse("glossary-history", args=[project.pk])
    messages.success(
        request,
        format_html(
            '{} <a href="{}">{}</a>',
            _("“%(term)s” was deleted.") % {"term": entry.term},
            history,
            _("The history brings it back."),
        ),
    )
    return redirect("project-glossary", project.pk)


# ---- History ------------------------------------------------------------------------------------


@require_safe
def history(request: HttpRequest, project_id: int) -> HttpResponse:
    """Every change of the glossary, those of deleted entries included; what was done in one go, as
    a run's entries are published, is one line."""
    project = project_for(request.user, project_id, Action.VIEW)
    context: dict[str, Any] = project_context(request, project, "glossary")
    labels = {each.key: each.label for each in categories_of(project)}
    done = project.entry_revisions.order_by().values("batch").annotate(last=Max("pk"))
    listing = Listing(request, done, HISTORY_COLUMNS, default="-time", page_size=30)
    context |= {"listing": listing, "batches": batches_of(project, listing.page, labels)}
    return render_page(request, "glossary/history.html", "glossary/_batches.html", context)


@require_POST
def revision_undo(request: HttpRequest, project_id: int, revision_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    revision = get_object_or_404(
        EntryRevision.objects.select_related("project", "entry"), project=project, pk=revision_id
    )
    try:
        entry = undo(revision=revision, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect(revision.entry or reverse("glossary-history", args=[project.pk]))
    messages.success(request, _("The change of “%(term)s” was undone.") % {"term": revision.term})
    return redirect(entry or reverse("project-glossary", args=[project.pk]))


@require_POST
def batch_undo(request: HttpRequest, project_id: int, batch: UUID) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    try:
        count = undo_batch(project=project, batch=batch, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        words = ngettext(
            "The change of %(n)d entry was undone.",
            "The changes of %(n)d entries were undone.",
            count,
        )
        messages.success(request, words % {"n": count})
    return redirect("glossary-history", project.pk)
