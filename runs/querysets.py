"""The vocabulary for reading runs."""

from typing import TYPE_CHECKING

from django.db.models import QuerySet

from runs.choices import ACTIVE, ENDED

if TYPE_CHECKING:
    from runs.models import Run  # noqa: F401 (named in the annotations)


class RunQuerySet(QuerySet["Run"]):
    def active(self) -> "RunQuerySet":
        return self.filter(status__in=ACTIVE)

    def ended(self) -> "RunQuerySet":
        return self.filter(status__in=ENDED)

    def newest_first(self) -> "RunQuerySet":
        return self.order_by("-pk")
