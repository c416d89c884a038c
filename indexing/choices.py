from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class RequestStatus(TextChoices):
    """Where a request to index a document stands."""

    PENDING = "pending", _("Pending")
    PROCESSING = "processing", _("Processing")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Failed")
    SKIPPED = "skipped", _("Skipped")


# While a document has one of these, what is found of it may change soon.
OPEN = (RequestStatus.PENDING, RequestStatus.PROCESSING)
ENDED = (RequestStatus.COMPLETED, RequestStatus.FAILED, RequestStatus.SKIPPED)

# Drawn in README.md.
TRANSITIONS: dict[RequestStatus, tuple[RequestStatus, ...]] = {
    RequestStatus.PENDING: (RequestStatus.PROCESSING, RequestStatus.SKIPPED),
    RequestStatus.PROCESSING: (
        RequestStatus.COMPLETED,
        RequestStatus.FAILED,
        # The worker is gone, or was told to stop: somebody else takes it.
        RequestStatus.PENDING,
    ),
    # Tried again, by itself or by hand; or there is a newer text, and this one does not matter.
    RequestStatus.FAILED: (RequestStatus.PENDING, RequestStatus.SKIPPED),
    RequestStatus.COMPLETED: (),
    RequestStatus.SKIPPED: (),
}


class IndexStatus(TextChoices):
    """How fresh what was found is."""

    LATEST = "latest", pgettext_lazy("index", "latest")
    UPDATING = "updating", pgettext_lazy("index", "updating")
    OUTDATED = "outdated", pgettext_lazy("index", "outdated")


class Freshness(TextChoices):
    """Which documents a search looks at. The last two are one thing under two names."""

    ALL = "all", _("All documents")
    LATEST_ONLY = "latest_only", _("Up to date only")
    COMPLETED_ONLY = "completed_only", _("Completely indexed only")


class Mode(TextChoices):
    HYBRID = "hybrid", _("Words and meaning")
    LEXICAL = "lexical", _("Words")
    VECTOR = "vector", _("Meaning")
