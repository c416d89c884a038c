"""The states of a run, and what each scope does."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Status(TextChoices):
    PENDING = "pending", _("Waiting")
    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    CANCELLED = "cancelled", pgettext_lazy("run", "Cancelled")
    FAILED = "failed", _("Failed")


ACTIVE = (Status.PENDING, Status.RUNNING)
ENDED = (Status.COMPLETED, Status.CANCELLED, Status.FAILED)

# The only moves there are.
TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.RUNNING, Status.CANCELLED, Status.FAILED}),
    Status.RUNNING: frozenset({Status.COMPLETED, Status.CANCELLED, Status.FAILED}),
    Status.COMPLETED: frozenset(),
    Status.CANCELLED: frozenset(),
    Status.FAILED: frozenset(),
}


class Step(TextChoices):
    LOAD = "load", _("Read documents")
    EXTRACT = "extract", _("Find terms")
    GENERATE = "generate", _("Write definitions")
    REVIEW = "review", _("Review")
    REFINE = "refine", _("Refine")


class Scope(TextChoices):
    FULL = "full", _("Everything, from the documents")
    FROM_TERMS = "from_terms", _("From the present terms")
    PROVISIONAL_TO_REFINED = "provisional_to_refined", _("Review and refine")
    EXTRACT = "extract", _("Only find terms")
    GENERATE = "generate", _("Only write definitions")
    REVIEW = "review", _("Only review")
    REFINE = "refine", _("Only refine")


STEPS: dict[Scope, tuple[Step, ...]] = {
    Scope.FULL: (Step.LOAD, Step.EXTRACT, Step.GENERATE, Step.REVIEW, Step.REFINE),
    Scope.FROM_TERMS: (Step.LOAD, Step.GENERATE, Step.REVIEW, Step.REFINE),
    Scope.PROVISIONAL_TO_REFINED: (Step.LOAD, Step.REVIEW, Step.REFINE),
    Scope.EXTRACT: (Step.LOAD, Step.EXTRACT),
    Scope.GENERATE: (Step.LOAD, Step.GENERATE),
    Scope.REVIEW: (Step.LOAD, Step.REVIEW),
    Scope.REFINE: (Step.LOAD, Step.REFINE),
}


class IssueKind(TextChoices):
    UNCLEAR = "unclear", _("Unclear")
    CONTRADICTION = "contradiction", _("Contradiction")
    MISSING_RELATION = "missing_relation", _("Missing relation")
    UNNECESSARY = "unnecessary", _("Unnecessary")
    DUPLICATE = "duplicate", _("Duplicate")
    UNSUPPORTED = "unsupported", _("Unsupported")


class Level(TextChoices):
    """Of a line of a run's log."""

    INFO = "info", _("Info")
    WARNING = "warning", _("Warning")
    ERROR = "error", _("Error")
