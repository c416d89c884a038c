"""What the list of projects shows of each one, in one query however many there are.

Apps above this one add their own facts (issues, last run) when they are ready: the list cannot ask
them, because imports point the other way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import CharField, Count, Max, Model, OuterRef, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, Concat
from django.utils.translation import gettext_lazy as _

from glossary_site.jobs.choices import ACTIVE
from glossary_site.jobs.models import JobRun
from projects.models import Document, Membership, Project, Term
from projects.querysets import ProjectQuerySet


@dataclass(frozen=True)
class Fact:
    key: str
    label: Any
    expression: Callable[[], Combinable]
    kind: str = "number"  # or "time"

    @property
    def sort_key(self) -> str:
        return f"glance_{self.key}"


def count_of(model: type[Model]) -> Callable[[], Combinable]:
    """How many rows of a model the project has; a subquery, so that counts do not multiply."""

    def expression() -> Combinable:
        rows = model._default_manager.filter(project=OuterRef("pk")).order_by().values("project")
        return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)

    return expression


def _active_work() -> Combinable:
    """Runs know their project by its name in the feed, not by a key: see `Project.stream`."""
    scope = Concat(Value(Project.STREAM_PREFIX), Cast(OuterRef("pk"), CharField()))
    rows = JobRun.objects.filter(scope=scope, state__in=ACTIVE).order_by().values("scope")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)


def _terms() -> Combinable:
    """Those that get an entry, or would: not what was left out."""
    rows = Term.objects.in_glossary().filter(project=OuterRef("pk")).order_by().values("project")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)


def _last_change() -> Combinable:
    rows = Document.objects.filter(project=OuterRef("pk")).order_by().values("project")
    return Coalesce(Subquery(rows.annotate(last=Max("updated_at")).values("last")), "updated_at")


FACTS: list[Fact] = [
    Fact("documents", _("Documents"), count_of(Document)),
    Fact("terms", _("Terms"), _terms),
    Fact("members", _("Members"), count_of(Membership)),
    Fact("active_work", _("Active work"), _active_work),
    Fact("changed", _("Changed"), _last_change, kind="time"),
]


def with_glance(projects: ProjectQuerySet) -> ProjectQuerySet:
    return projects.annotate(**{fact.sort_key: fact.expression() for fact in FACTS})
