"""What the list of projects shows of each one, in one query however many there are.

Apps above this one add their own facts (terms, last run, work in progress) when they are ready:
the list cannot ask them, because imports point the other way.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Model, OuterRef, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from projects.models import Document, Membership
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


def _last_change() -> Combinable:
    rows = Document.objects.filter(project=OuterRef("pk")).order_by().values("project")
    return Coalesce(Subquery(rows.annotate(last=Max("updated_at")).values("last")), "updated_at")


FACTS: list[Fact] = [
    Fact("documents", _("Documents"), count_of(Document)),
    Fact("members", _("Members"), count_of(Membership)),
    Fact("changed", _("Changed"), _last_change, kind="time"),
]


def with_glance(projects: ProjectQuerySet) -> ProjectQuerySet:
    return projects.annotate(**{fact.sort_key: fact.expression() for fact in FACTS})
