"""The vocabulary for reading runs."""

from typing import TYPE_CHECKING

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When

from projects.choices import Change
from projects.models import EntryRevision
from runs.choices import ACTIVE, ENDED, Step

if TYPE_CHECKING:
    from runs.models import RefinedEntry, Run  # noqa: F401 (named in the annotations)


def is_published() -> Q:
    """Something of what it published is left: people have not taken all of it back, on whatever
    page."""
    made = EntryRevision.objects.filter(
        project=OuterRef("project"), run_id=OuterRef("pk"), change=Change.PUBLISHED
    )
    standing = made.filter(Q(undone_by=None) | Q(undone_by__undone_by__isnull=False))
    # A publication that had nothing to change is one all the same.
    taken_back = made.filter(undone_by__created_at__gt=OuterRef("published_at"))
    return Q(published_at__isnull=False) & (Exists(standing) | ~Exists(taken_back))


class RunQuerySet(QuerySet["Run"]):
    def active(self) -> "RunQuerySet":
        return self.filter(status__in=ACTIVE)

    def ended(self) -> "RunQuerySet":
        return self.filter(status__in=ENDED)

    def newest_first(self) -> "RunQuerySet":
        return self.order_by("-pk")

    def with_publication(self) -> "RunQuerySet":
        """Each with `published`: when it was published last, None where it is not."""
        return self.annotate(published=Case(When(is_published(), then="published_at")))

    def published(self) -> "RunQuerySet":
        return self.filter(is_published())

    def unpublished(self) -> "RunQuerySet":
        return self.filter(~is_published())


class RefinedQuerySet(QuerySet["RefinedEntry"]):
    def whole(self) -> "RefinedQuerySet":
        """Of runs that have refined all they had. Until then there are those alone that the review
        found wrong: what is taken over as it is follows at the end of the step."""
        return self.filter(run__steps__step=Step.REFINE, run__steps__finished_at__isnull=False)
