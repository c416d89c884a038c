"""One term: where it stands, what people said about it, and what it is another name of."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from glossary_site.errors import Refusal
from glossary_site.numbers import number_in
from glossary_site.pages import render_page, wants_part
from projects.access import Action, project_for
from projects.categories import categories_of
from projects.choices import TermStatus
from projects.forms_terms import EditTermForm, shown
from projects.models import GlossaryEntry, Project, SynonymGroup, Term
from projects.panels import TERM_PANELS, panels_of
from projects.services.synonyms import (
    add_to_group,
    dissolve,
    make_group,
    remove_from_group,
    set_primary,
    terms_named,
)
from projects.services.terms import delete_terms, update_term
from projects.terms.keys import key_of
from projects.views.conflicts import put_together
from projects.views.occurrences import occurrences_of
from projects.views.pages import project_context
from projects.views.term_undo import change_status, take_back
from projects.views.terms import field_of, row_of


def term_of(project: Project, term_id: int) -> Term:
    terms = Term.objects.select_related("project", "group__primary", "added_by")
    return get_object_or_404(terms, project=project, pk=term_id)


@require_http_methods(["GET", "HEAD", "POST"])
def term(request: HttpRequest, project_id: int, term_id: int) -> HttpResponse:
    if request.method == "POST":
        return _change(request, project_for(request.user, project_id, Action.EDIT), term_id)
    project = project_for(request.user, project_id, Action.VIEW)
    context: dict[str, Any] = project_context(request, project, "terms")
    term = term_of(project, term_id)
    categories = [(each.key, each.label) for each in categories_of(project)]
    context |= _about(term, dict(categories))
    synonyms = [other.text for other in context["synonyms"]]
    context |= {
        "occurrences": occurrences_of(term, request.GET.get("page"), synonyms),
        "form": _form(term, categories),
        "panels": [] if wants_part(request) else panels_of(request, term, TERM_PANELS),
        "page_shortcuts": "terms/_term_shortcuts.html",
    }
    return render_page(request, "terms/term.html", "terms/_occurrences.html", context)


def _about(term: Term, labels: dict[str, Any]) -> dict[str, Any]:
    group = term.group
    members = list(group.terms.order_by("reading", "pk")) if group else []
    keys = {term.key, *(member.key for member in members)}
    entries = GlossaryEntry.objects.listed().filter(project=term.project, key__in=keys)
    return {
        "term": term,
        "row": row_of(term, labels),
        "statuses": TermStatus,
        "group": group,
        "members": members,
        "synonyms": [member for member in members if member.pk != term.pk],
        # Its own, or that of the group it belongs to.
        "entry": min(entries, key=lambda entry: entry.key != term.key, default=None),
        # The first one is what the page is called already.
        "spellings": [text for text in term.variants if text != term.text],
        "beyond": max(0, term.frequency - sum(count for _d, _l, count in term.occurrences)),
    }


def _values(term: Term) -> dict[str, str]:
    return {name: getattr(term, name) for name in EditTermForm.EDITED}


def _form(term: Term, categories: list[tuple[str, Any]], data: Any = None) -> EditTermForm:
    return EditTermForm(data, categories=categories, initial=shown(_values(term)))


def _change(request: HttpRequest, project: Project, term_id: int) -> HttpResponse:
    """The buttons that put it into another list, and the one that takes that back."""
    term = term_of(project, term_id)
    if token := request.POST.get("undo"):
        take_back(request, project, token)
    else:
        change_status(request, project, [term.pk], request.POST.get("status", ""))
    return redirect(term)


@require_http_methods(["GET", "HEAD", "POST"])
def term_edit(request: HttpRequest, project_id: int, term_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    term = term_of(project, term_id)
    sent = request.method == "POST"
    categories = [(each.key, each.label) for each in categories_of(project)]
    form = _form(term, categories, request.POST if sent else None)
    existing: Term | None = None
    if sent and form.is_valid():
        try:
            update_term(term=term, actor=request.user, seen=form.seen, **form.changes)
        except Refusal as refusal:
            if refusal.code == "term_changed":
                return _conflict(request, term_of(project, term_id), form, categories)
            form.add_error(field_of(refusal), str(refusal))
            existing = project.terms.filter(pk=refusal.details.get("term_id", 0)).first()
        else:
            messages.success(request, _("Saved."))
            return redirect(term)
    context = project_context(request, project, "terms")
    context |= {"term": term_of(project, term_id), "form": form, "existing": existing}
    return render(request, "terms/edit.html", context, status=422 if sent else 200)


def _conflict(
    request: HttpRequest, term: Term, form: EditTermForm, categories: list[tuple[str, Any]]
) -> HttpResponse:
    """Somebody was faster. Saving again then is a choice."""
    theirs = _values(term)
    labels = {name: form.fields[name].label for name in form.EDITED}
    merged, conflicts = put_together(seen=form.seen, theirs=theirs, mine=form.values, labels=labels)
    again = EditTermForm(categories=categories, initial=shown(theirs, edited=merged))
    context = project_context(request, term.project, "terms")
    context |= {"term": term, "form": again, "was_changed": True, "conflicts": conflicts}
    return render(request, "terms/edit.html", context, status=409)


@require_POST
def term_delete(request: HttpRequest, project_id: int, term_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    term = term_of(project, term_id)
    delete_terms(project=project, ids=[term.pk], actor=request.user)
    messages.success(request, _("“%(term)s” was deleted.") % {"term": term.text})
    return redirect("project-terms", project.pk)


# ---- Synonyms -----------------------------------------------------------------------------------


@require_POST
def term_synonyms(request: HttpRequest, project_id: int, term_id: int) -> HttpResponse:
    """`add` another term by its words, `remove` one, make one the `primary`, or `dissolve` all."""
    project = project_for(request.user, project_id, Action.EDIT)
    term = term_of(project, term_id)
    sent = request.POST
    try:
        if "dissolve" in sent:
            _dissolve(request, term)
        elif "remove" in sent:
            _remove(request, project, term, sent["remove"])
        elif "primary" in sent:
            _lead(request, project, term, sent["primary"])
        else:
            _add(request, project, term, sent.get("synonym", "").strip())
    except Refusal as refusal:
        messages.error(request, str(refusal))
    return redirect(term)


def _add(request: HttpRequest, project: Project, term: Term, text: str) -> None:
    if not text:
        messages.warning(request, _("Type the other term first."))
        return
    if key_of(text) == term.key:
        messages.info(request, _("This is the same term in another spelling."))
        return
    # A name that no document has is still a name: it is added.
    is_new = not project.terms.filter(key=key_of(text)).exists()
    [other] = terms_named(project=project, texts=[text], actor=request.user)
    if term.group is None:
        make_group(project=project, primary=term, terms=[other], actor=request.user)
    else:
        add_to_group(group=term.group, term=other, actor=request.user)
    said = _("“%(other)s” now means the same as “%(term)s”.")
    if is_new:
        said = _("“%(other)s” was added: no term had this name. It means the same as “%(term)s”.")
    messages.success(request, said % {"other": other.text, "term": term.text})


def _remove(request: HttpRequest, project: Project, term: Term, pk: str) -> None:
    other = _member(project, term, pk)
    if other is None:
        return
    remove_from_group(term=other, actor=request.user)
    messages.success(request, _("“%(term)s” stands for itself again.") % {"term": other.text})


def _lead(request: HttpRequest, project: Project, term: Term, pk: str) -> None:
    other = _member(project, term, pk)
    if other is None or other.group is None:
        return
    set_primary(group=other.group, term=other, actor=request.user)
    messages.success(request, _("The entry will stand under “%(term)s”.") % {"term": other.text})


def _dissolve(request: HttpRequest, term: Term) -> None:
    group: SynonymGroup | None = term.group
    if group is not None:
        dissolve(group=group, actor=request.user)
        messages.success(request, _("Every term of the group stands for itself again."))


def _member(project: Project, term: Term, pk: str) -> Term | None:
    """Of the same group: somebody else may have been faster."""
    if term.group_id is None:
        return None
    return project.terms.filter(pk=number_in(pk) or 0, group=term.group_id).first()
