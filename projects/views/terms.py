"""The terms of a project: the lists, and what can be done to one or many of them at once."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from glossary_site.errors import Refusal
from glossary_site.nearness import nearest_first
from glossary_site.numbers import number_in
from glossary_site.pages import Column, Listing, query_of, render_page, wants_part
from projects.access import Action, project_for
from projects.categories import categories_of
from projects.choices import IN_GLOSSARY, LEFT_OUT, Category, TermStatus
from projects.forms_terms import NewTermForm
from projects.models import Project, Term
from projects.order import by_index
from projects.querysets import TermQuerySet
from projects.services.terms import add_term
from projects.views.pages import project_context
from projects.views.term_undo import change_category, change_status, make_synonyms, take_back

COLUMNS = [
    Column("term", gettext_lazy("Term"), order_by=by_index()),
    Column("frequency", gettext_lazy("Frequency"), order_by="frequency", kind="number"),
    Column("spread", gettext_lazy("Documents"), order_by="document_count", kind="number"),
    Column("score", gettext_lazy("Score"), order_by="score", kind="number"),
]
# What `?show=` says, which statuses that is, and what the tab is called.
SHOWS: dict[str, tuple[tuple[TermStatus, ...], Any]] = {
    "": (IN_GLOSSARY, gettext_lazy("Kept")),
    "required": ((TermStatus.REQUIRED,), gettext_lazy("Required")),
    "excluded": (LEFT_OUT, gettext_lazy("Excluded")),
    "all": (tuple(TermStatus), gettext_lazy("All")),
}
# What `?category=` says for terms without one.
NO_CATEGORY = "-"
# Codes of the extraction; what people wrote is shown as it is.
REASONS = {
    Category.COMMON_NOUN.value: gettext_lazy("an everyday word"),
    Category.PERSON_NAME.value: gettext_lazy("a person’s name"),
    Category.PLACE_NAME.value: gettext_lazy("the name of a place"),
}
SUGGESTIONS = 12


@dataclass(frozen=True)
class Tab:
    key: str
    label: Any
    count: int
    url: str
    is_current: bool


@dataclass(frozen=True)
class Row:
    term: Term
    category: str
    reason: str
    # Of a primary: what else it is called. Of any other synonym: the primary.
    synonyms: list[str]
    stands_for: Term | None


@require_http_methods(["GET", "HEAD", "POST"])
def term_list(request: HttpRequest, project_id: int) -> HttpResponse:
    """A form that is sent comes to the address of the list as it is shown, and leads back to it."""
    if request.method != "POST":
        return _page(request, project_for(request.user, project_id, Action.VIEW))
    project = project_for(request.user, project_id, Action.EDIT)
    _act(request, project)
    if wants_part(request):
        return _page(request, project, done=True)
    return redirect(request.get_full_path())


def _page(request: HttpRequest, project: Project, *, done: bool = False) -> HttpResponse:
    context: dict[str, Any] = project_context(request, project, "terms")
    categories = [(each.key, each.label) for each in categories_of(project)]
    listing = Listing(request, shown_terms(request, project), COLUMNS, default="-score")
    tabs = _tabs(request, project)
    category = request.GET.get("category", "")
    context |= {
        "listing": listing,
        "rows": [row_of(term, dict(categories)) for term in listing.page],
        "tabs": tabs,
        "show": request.GET.get("show", ""),
        "has_terms": any(tab.count for tab in tabs),
        "category": category,
        "is_narrowed": bool(listing.query or category),
        "categories": categories,
        "no_category": NO_CATEGORY,
        "statuses": TermStatus,
        "new_form": NewTermForm(categories=categories),
        "page_shortcuts": "terms/_shortcuts.html",
    }
    part = "terms/_done.html" if done else "terms/_list.html"
    return render_page(request, "terms/list.html", part, context)


def shown_terms(request: HttpRequest, project: Project) -> TermQuerySet:
    statuses, _label = SHOWS.get(request.GET.get("show", ""), SHOWS[""])
    terms = project.terms.listed().filter(status__in=statuses)
    if query := query_of(request):
        terms = terms.matching(query)
    if category := request.GET.get("category", "").replace("\0", ""):
        terms = terms.filter(category="" if category == NO_CATEGORY else category)
    names = Prefetch("group__terms", Term.objects.only("text", "group").order_by("reading", "pk"))
    together = terms.select_related("group__primary").prefetch_related(names)
    return together.defer("occurrences", "group__primary__occurrences")


def row_of(term: Term, labels: dict[str, Any]) -> Row:
    group = term.group
    leads = group is not None and group.primary_id == term.pk
    others = [other.text for other in group.terms.all() if other.pk != term.pk] if group else []
    return Row(
        term=term,
        category=labels.get(term.category, term.category),
        reason=str(REASONS.get(term.reason, term.reason)),
        synonyms=others if leads else [],
        stands_for=group.primary if group and not leads else None,
    )


def _tabs(request: HttpRequest, project: Project) -> list[Tab]:
    counts = project.terms.aggregate(
        **{
            key or "kept": Count("pk", filter=Q(status__in=statuses))
            for key, (statuses, _label) in SHOWS.items()
        }
    )
    current = request.GET.get("show", "")
    tabs = []
    for key, (_statuses, label) in SHOWS.items():
        query = request.GET.copy()
        for gone in ("page", "show"):
            query.pop(gone, None)
        if key:
            query["show"] = key
        url = f"{request.path}?{query.urlencode()}" if query else request.path
        is_current = key == (current if current in SHOWS else "")
        tabs.append(Tab(key, label, counts[key or "kept"], url, is_current))
    return tabs


# ---- What the form around the list sends --------------------------------------------------------


def _act(request: HttpRequest, project: Project) -> None:
    sent = request.POST
    if token := sent.get("undo"):
        take_back(request, project, token)
        return
    if only := sent.get("only"):
        # The button of one row: whatever else is ticked does not count.
        pk, _colon, status = only.partition(":")
        ids = [number for number in [number_in(pk)] if number is not None]
        change_status(request, project, ids, status)
        return
    ids = _chosen(request, project)
    if not ids:
        messages.warning(request, _("Choose the terms first."))
    elif "group" in sent:
        make_synonyms(request, project, ids)
    elif "recategorise" in sent:
        change_category(request, project, ids, sent.get("to_category", ""))
    else:
        change_status(request, project, ids, sent.get("status", ""))


def _chosen(request: HttpRequest, project: Project) -> list[int]:
    if request.POST.get("every"):
        return list(shown_terms(request, project).order_by("pk").values_list("pk", flat=True))
    numbers = map(number_in, request.POST.getlist("ids"))
    return [number for number in numbers if number is not None]


# ---- Adding, and suggestions --------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def term_add(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    sent = request.method == "POST"
    categories = [(each.key, each.label) for each in categories_of(project)]
    form = NewTermForm(request.POST if sent else None, categories=categories)
    existing: Term | None = None
    if sent and form.is_valid():
        wish = form.cleaned_data
        try:
            term = add_term(
                project=project,
                text=wish["text"],
                status=TermStatus(wish["status"]),
                category=wish["category"],
                notes=wish["notes"],
                actor=request.user,
            )
        except Refusal as refusal:
            form.add_error(field_of(refusal), str(refusal))
            existing = project.terms.filter(pk=refusal.details.get("term_id", 0)).first()
        else:
            messages.success(request, _("“%(term)s” was added.") % {"term": term.text})
            return redirect("project-terms", project.pk)
    context = project_context(request, project, "terms")
    context |= {"form": form, "existing": existing}
    return render(request, "terms/add.html", context, status=422 if sent else 200)


def field_of(refusal: Refusal) -> str:
    """The field that a refusal is about, to show it there."""
    subject = refusal.code.partition("_")[0]
    return subject if subject in ("notes", "category") else "text"


@require_safe
def term_suggest(request: HttpRequest, project_id: int) -> HttpResponse:
    """Terms that are near to what is being typed: the options of a datalist."""
    project = project_for(request.user, project_id, Action.VIEW)
    terms = project.terms.none()
    if query := request.GET.get("synonym", "").replace("\0", "").strip():
        terms = project.terms.listed().matching(query)
    best = terms.order_by(*nearest_first(terms), "-score", "pk")[:SUGGESTIONS]
    return render(request, "terms/_suggestions.html", {"terms": best})
