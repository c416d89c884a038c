"""The tables that a run has made, one for each tab of its page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from glossary_site.pages import Column, Listing, query_of
from projects.order import by_index
from runs.models import Run


@dataclass(frozen=True)
class Table:
    key: str
    label: Any
    rows: Callable[[Run], QuerySet[Any]]
    # Where the filter looks.
    searched: tuple[str, ...]
    placeholder: Any
    columns: list[Column]
    # The order in which the run made them, the best first, unless somebody sorts.
    default: str
    template: str

    def count(self, run: Run) -> int:
        return self.rows(run).count()

    def listing(self, request: HttpRequest, run: Run) -> Listing:
        rows = self.rows(run)
        if query := query_of(request):
            condition = Q()
            for name in self.searched:
                condition |= Q(**{f"{name}__icontains": query})
            rows = rows.filter(condition)
        return Listing(request, rows, self.columns, default=self.default)


BY_TERM = by_index(project="run__project")
ENTRY_COLUMNS = [
    Column("term", _("Term"), order_by=BY_TERM),
    Column("definition", pgettext_lazy("glossary", "Definition")),
    Column("category", _("Category"), order_by="category"),
    Column("confidence", _("Confidence"), order_by="confidence", kind="number"),
]

TERMS = Table(
    key="terms",
    label=_("Terms"),
    rows=lambda run: run.terms.defer("occurrences"),
    searched=("text", "reading", "category"),
    placeholder=_("Filter terms"),
    columns=[
        Column("term", _("Term"), order_by=BY_TERM),
        Column("category", _("Category"), order_by="category"),
        Column("score", _("Score"), order_by="score", kind="number"),
        Column("frequency", _("Frequency"), order_by="frequency", kind="number"),
        Column("documents", _("Documents"), order_by="document_count", kind="number"),
    ],
    default="order",
    template="runs/_terms.html",
)
PROVISIONAL = Table(
    key="provisional",
    label=_("Provisional"),
    rows=lambda run: run.provisional.all(),
    searched=("term", "reading", "definition"),
    placeholder=_("Filter terms and definitions"),
    columns=ENTRY_COLUMNS,
    default="order",
    template="runs/_entries.html",
)
REFINED = Table(
    key="refined",
    label=_("Refined"),
    rows=lambda run: run.refined.whole(),
    searched=("term", "reading", "definition"),
    placeholder=_("Filter terms and definitions"),
    columns=ENTRY_COLUMNS,
    default="order",
    template="runs/_entries.html",
)
ISSUES = Table(
    key="issues",
    label=_("Issues"),
    rows=lambda run: run.issues.all(),
    searched=("term", "description", "suggestion"),
    placeholder=_("Filter issues"),
    columns=[
        Column("term", _("Term"), order_by="term"),
        Column("kind", _("Kind"), order_by="kind"),
        Column("description", _("What is wrong")),
    ],
    default="order",
    template="runs/_issues.html",
)
FAILURES = Table(
    key="failures",
    label=_("Failures"),
    rows=lambda run: run.failures.all(),
    searched=("term", "error"),
    placeholder=_("Filter failures"),
    columns=[
        Column("term", _("Term"), order_by="term"),
        Column("step", _("Step"), order_by="step"),
        Column("error", _("Error")),
        Column("time", _("Time"), order_by="created_at", kind="time"),
    ],
    default="pk",
    template="runs/_failures.html",
)
DOCUMENTS = Table(
    key="documents",
    label=_("Documents"),
    rows=lambda run: run.documents.all(),
    searched=("path",),
    placeholder=_("Filter paths"),
    columns=[
        Column("path", _("Document"), order_by="path"),
        Column("version", _("Version"), order_by="version", kind="number"),
        Column("now", _("Now")),
    ],
    default="path",
    template="runs/_documents.html",
)
TABLES = {table.key: table for table in (TERMS, PROVISIONAL, ISSUES, REFINED, FAILURES, DOCUMENTS)}
