"""The glossary as people read it: by letter, by search, or as a file."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header, urlencode
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from glossary_site.errors import Refusal
from glossary_site.pages import Column, Listing, query_of, render_page
from projects.access import Action, project_for
from projects.categories import categories_of
from projects.exports.published import FORMATS
from projects.exports.published import export as export_glossary
from projects.forms_glossary import EntryForm
from projects.models import GlossaryEntry, Project
from projects.order import by_index
from projects.querysets import EntryQuerySet
from projects.services.glossary import add_entry
from projects.terms.readings import LETTERS, REST, scripts_of
from projects.views.pages import project_context

COLUMNS = [Column("term", gettext_lazy("Term"), order_by=by_index())]
# More than a screen, and still quick to send and to lay out.
PAGE_SIZE = 60
# What `?only=` says.
STATES: dict[str, tuple[Q, Any]] = {
    "review": (Q(needs_review=True), gettext_lazy("needs review")),
    "unsupported": (Q(supported=False), gettext_lazy("unsupported")),
    "edited": (~Q(locked=[]), gettext_lazy("edited by people")),
}


@dataclass(frozen=True)
class Letter:
    """A place of the index; without an address where nothing begins with it."""

    text: str
    count: int
    url: str
    is_current: bool


@dataclass(frozen=True)
class Line:
    entry: GlossaryEntry
    category: str


@dataclass(frozen=True)
class Group:
    """Entries of one letter, as far as this page has them; found ones stand under none."""

    letter: str
    lines: list[Line]


@require_safe
def glossary(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context: dict[str, Any] = project_context(request, project, "glossary")
    categories = [(each.key, each.label) for each in categories_of(project)]
    asked = _Asked(request)
    found = asked.narrow(project.entries.listed())
    counts = dict(found.order_by().values_list("letter").annotate(n=Count("pk")))
    found = found.narrowed(letter=asked.letter)
    listing = Listing(request, found, COLUMNS, default="term", page_size=PAGE_SIZE)
    context |= {
        "asked": asked,
        "listing": listing,
        "groups": _groups(listing.page, dict(categories), by_letter=not asked.query),
        "alphabets": _alphabets(request, project, counts, asked.letter),
        "total": sum(counts.values()),
        "has_entries": bool(counts) or project.entries.exists(),
        "categories": categories,
        "states": [(key, label) for key, (_q, label) in STATES.items()],
        "page_shortcuts": "glossary/_shortcuts.html",
    }
    return render_page(request, "glossary/list.html", "glossary/_list.html", context)


class _Asked:
    """What the address narrows the glossary to."""

    def __init__(self, request: HttpRequest) -> None:
        self.query = query_of(request)
        self.category = request.GET.get("category", "").replace("\0", "")
        only = request.GET.get("only", "")
        self.only = only if only in STATES else ""
        letter = request.GET.get("letter", "")
        self.letter = letter if letter in LETTERS else ""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.query or self.category or self.only or self.letter)

    @property
    def query_string(self) -> str:
        """The same for another address."""
        asked = {
            "q": self.query,
            "category": self.category,
            "only": self.only,
            "letter": self.letter,
        }
        return urlencode({name: value for name, value in asked.items() if value})

    def narrow(self, entries: EntryQuerySet) -> EntryQuerySet:
        """By everything but the letter: the index counts what each one would show."""
        entries = entries.narrowed(query=self.query, category=self.category)
        if self.only:
            entries = entries.filter(STATES[self.only][0])
        return entries


def _groups(
    entries: Iterable[GlossaryEntry], labels: dict[str, Any], *, by_letter: bool
) -> list[Group]:
    return [
        Group(letter, [Line(entry, labels.get(entry.category, entry.category)) for entry in same])
        for letter, same in groupby(entries, key=lambda entry: entry.letter if by_letter else "")
    ]


def _alphabets(
    request: HttpRequest, project: Project, counts: dict[str, int], current: str
) -> list[list[Letter]]:
    """In the order of the list; a script nobody uses is left out."""
    scripts = [
        list(script)
        for script in scripts_of(project.language)
        if any(letter in counts for letter in script)
    ]
    if REST in counts:
        scripts = [*scripts[:-1], [*scripts[-1], REST]] if scripts else [[REST]]
    return [[_letter(request, text, counts, current) for text in script] for script in scripts]


def _letter(request: HttpRequest, text: str, counts: dict[str, int], current: str) -> Letter:
    query = request.GET.copy()
    query.pop("page", None)
    query["letter"] = text
    url = f"{request.path}?{query.urlencode()}" if text in counts else ""
    return Letter(text, counts.get(text, 0), url, text == current)


# ---- As a file ----------------------------------------------------------------------------------


@require_safe
def export(request: HttpRequest, project_id: int, format: str) -> HttpResponse:
    """The glossary to keep or to give away: whole, or what the same address narrows the page to."""
    project = project_for(request.user, project_id, Action.VIEW)
    if format not in FORMATS:
        raise Http404(_("There is no such format."))
    asked = _Asked(request)
    entries = asked.narrow(project.entries.all()).narrowed(letter=asked.letter)
    text = "".join(export_glossary(project, format, entries=entries))
    response = HttpResponse(text, content_type=FORMATS[format].with_charset)
    name = slugify(project.name, allow_unicode=True) or str(project.pk)
    header = content_disposition_header(True, f"{name}-glossary.{FORMATS[format].extension}")
    response["Content-Disposition"] = header or "attachment"
    return response


# ---- Adding -------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def entry_add(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    sent = request.method == "POST"
    categories = [(each.key, each.label) for each in categories_of(project)]
    form = EntryForm(
        request.POST if sent else None,
        categories=categories,
        initial={"term": request.GET.get("term", "")},
    )
    existing: GlossaryEntry | None = None
    if sent and form.is_valid():
        try:
            entry = add_entry(project=project, actor=request.user, **form.entry_fields)
        except Refusal as refusal:
            form.add_error(field_of(refusal), str(refusal))
            existing = project.entries.filter(pk=refusal.details.get("entry_id", 0)).first()
        else:
            messages.success(request, _("“%(term)s” was added.") % {"term": entry.term})
            return redirect(entry)
    context = project_context(request, project, "glossary")
    context |= {"form": form, "existing": existing}
    return render(request, "glossary/add.html", context, status=422 if sent else 200)


def field_of(refusal: Refusal) -> str | None:
    """The field that a refusal is about, to show it there."""
    return {
        "entry_exists": "term",
        "term_invalid": "term",
        "term_too_long": "term",
        "definition_invalid": "definition",
        "definition_too_long": "definition",
        "category_unknown": "category",
    }.get(refusal.code)
