"""Two runs side by side: what came, what went, and what reads differently."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_safe

from glossary_site.numbers import number_in
from glossary_site.pages import query_of, render_page
from projects.access import Action, project_for
from projects.choices import Category
from projects.models import Project
from projects.rendering.words import Span, word_diff
from projects.views.pages import project_context
from runs.models import Run
from runs.services.comparing import Changed, Comparison, Side, compare
from runs.views.finding import run_of
from runs.views.lists import ListInMemory

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
LABELS = {
    "": gettext_lazy("All differences"),
    CHANGED: pgettext_lazy("entries", "Changed"),
    ADDED: pgettext_lazy("entries", "Added"),
    REMOVED: pgettext_lazy("entries", "Removed"),
}
FIELD_NAMES = {
    "definition": pgettext_lazy("glossary", "definition"),
    "term": gettext_lazy("spelling"),
    "category": gettext_lazy("category"),
    "aliases": gettext_lazy("aliases"),
    "related": gettext_lazy("related terms"),
}


@dataclass(frozen=True)
class Difference:
    kind: str
    old: Side | None
    new: Side | None
    fields: tuple[str, ...] = ()

    @property
    def term(self) -> str:
        side = self.new or self.old
        return side.term if side else ""

    @property
    def definition(self) -> str:
        """Of a term that only one of them has."""
        side = self.new or self.old
        return side.definition if side else ""

    @property
    def words(self) -> list[Span]:
        """Of the two definitions. Made when they are shown: a page has few of what may be
        thousands."""
        if self.old is None or self.new is None or "definition" not in self.fields:
            return []
        return word_diff(self.old.definition, self.new.definition)

    @property
    def other_fields(self) -> list[dict[str, Any]]:
        """What else differs, as pairs of texts."""
        names = [name for name in self.fields if name != "definition"]
        return [
            {
                "name": name,
                "label": FIELD_NAMES[name],
                "old": _text(getattr(self.old, name)),
                "new": _text(getattr(self.new, name)),
            }
            for name in names
        ]

    def mentions(self, text: str) -> bool:
        sides = [side for side in (self.old, self.new) if side is not None]
        return any(text in f"{side.term}\n{side.definition}".casefold() for side in sides)


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


@require_safe
def compare_runs(request: HttpRequest, project_id: int) -> HttpResponse:
    """`?older=3&newer=7`, in either order; by default the newest two that have entries."""
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "runs")
    wanted = [number_in(request.GET.get(key, "")) for key in ("older", "newer")]
    if wanted[0] is not None and wanted[0] == wanted[1]:
        messages.info(request, _("Choose two different runs to compare."))
        return redirect("project-runs", project.pk)
    older, newer = _two_runs(project, wanted)
    show = request.GET.get("show", "")
    show = show if show in LABELS else ""
    context |= {"older": older, "newer": newer, "show": show}
    if older is not None and newer is not None:
        comparison = compare(older, newer)
        context |= _differences(request, comparison, show)
        context["categories"] = {
            **dict(Category.choices),
            **dict(project.term_categories.values_list("key", "name")),
        }
    return render_page(request, "runs/compare.html", "runs/_compare.html", context)


def _differences(request: HttpRequest, comparison: Comparison, show: str) -> dict[str, Any]:
    makers: dict[str, tuple[list[Any], Callable[[Any], Difference]]] = {
        CHANGED: (comparison.changed, _of_changed),
        ADDED: (comparison.added, lambda side: Difference(ADDED, None, side)),
        REMOVED: (comparison.removed, lambda side: Difference(REMOVED, side, None)),
    }
    found = [
        make(each)
        for kind, (rows, make) in makers.items()
        if not show or kind == show
        for each in rows
    ]
    if query := query_of(request).casefold():
        found = [difference for difference in found if difference.mentions(query)]
    counts = {kind: len(rows) for kind, (rows, _make) in makers.items()}
    counts[""] = sum(counts.values())
    return {
        "comparison": comparison,
        "listing": ListInMemory(request, found),
        "filters": [(kind, label, counts[kind]) for kind, label in LABELS.items()],
    }


def _of_changed(each: Changed) -> Difference:
    return Difference(CHANGED, each.old, each.new, each.fields)


def _two_runs(project: Project, wanted: list[int | None]) -> tuple[Run | None, Run | None]:
    if None in wanted:
        return _newest_two(project)
    older, newer = sorted(number or 0 for number in wanted)
    return run_of(project, older), run_of(project, newer)


def _newest_two(project: Project) -> tuple[Run | None, Run | None]:
    from_newest = Run.objects.filter(project=project).ended().newest_first()
    with_entries = (run for run in from_newest[:50] if run.provisional.exists())
    newer, older = next(with_entries, None), next(with_entries, None)
    return older, newer
