"""The vocabulary for reading runs."""

from typing import TYPE_CHECKING

from django.db.models import QuerySet

from runs.choices import ACTIVE, ENDED, Step

if TYPE_CHECKING:
    from runs.models import RefinedEntry, Run  # noqa: F401 (named in the annotations)


class RunQuerySet(QuerySet["Run"]):
    def active(self) -> "RunQuerySet":
        return self.filter(status__in=ACTIVE)

    def ended(self) -> "RunQuerySet":
        return self.filter(status__in=ENDED)

    def newest_first(self) -> "RunQuerySet":
        return self.order_by("-pk")


class RefinedQuerySet(QuerySet["RefinedEntry"]):
    def whole(self) -> "RefinedQuerySet":
        """Of runs that have refined all they had. Until then there are those alone that the review
        found wrong: what is taken over as it is follows at the end of the step."""
        return self.filter(run__steps__step=Step.REFINE, run__steps__finished_at__isnull=False)
