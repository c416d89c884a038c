"""The states of requests and processes, and every move between them that may happen."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ProviderKind(models.TextChoices):
    """Who answers."""

    BUILTIN = "builtin", _("Built-in engine")
    OPENAI = "openai", _("OpenAI-compatible server")


class Strategy(models.TextChoices):
    """How many requests are sent (`llm.bulk_strategy`)."""

    SYNC = "sync", _("One by one, several at a time")
    BATCH = "batch", _("As a batch, answered within a day")


class JobStatus(models.TextChoices):
    """Of one request in the queue."""

    PENDING = "PENDING", _("Waiting")
    IN_PROGRESS = "IN_PROGRESS", _("In flight")
    COMPLETED = "COMPLETED", _("Answered")
    FAILED = "FAILED", _("Failed")


UNFINISHED = (JobStatus.PENDING, JobStatus.IN_PROGRESS)


class ProcessStatus(models.TextChoices):
    """Of everything that was enqueued together."""

    PENDING = "PENDING", _("Waiting")
    RUNNING = "RUNNING", _("Running")
    WAITING = "WAITING", _("Waiting for the provider")
    CANCELLING = "CANCELLING", _("Being cancelled")
    COMPLETED = "COMPLETED", _("Completed")
    FAILED = "FAILED", _("Given up")
    CANCELLED = "CANCELLED", _("Cancelled")


# An ended process begins again only where somebody asks for its failed requests to be retried.
TRANSITIONS: dict[ProcessStatus, frozenset[ProcessStatus]] = {
    ProcessStatus.PENDING: frozenset(
        {
            ProcessStatus.RUNNING,
            ProcessStatus.CANCELLING,
            ProcessStatus.FAILED,
            ProcessStatus.CANCELLED,
        }
    ),
    ProcessStatus.RUNNING: frozenset(
        {
            ProcessStatus.WAITING,
            ProcessStatus.CANCELLING,
            ProcessStatus.COMPLETED,
            ProcessStatus.FAILED,
            ProcessStatus.CANCELLED,
        }
    ),
    ProcessStatus.WAITING: frozenset(
        {
            ProcessStatus.RUNNING,
            ProcessStatus.CANCELLING,
            ProcessStatus.FAILED,
            ProcessStatus.CANCELLED,
        }
    ),
    ProcessStatus.CANCELLING: frozenset({ProcessStatus.CANCELLED}),
    ProcessStatus.COMPLETED: frozenset({ProcessStatus.PENDING}),
    ProcessStatus.FAILED: frozenset({ProcessStatus.PENDING}),
    ProcessStatus.CANCELLED: frozenset({ProcessStatus.PENDING}),
}
ENDED = (ProcessStatus.COMPLETED, ProcessStatus.FAILED, ProcessStatus.CANCELLED)
ACTIVE = tuple(status for status in TRANSITIONS if status not in ENDED)
# A run may take these up; the rest is for people.
WORKABLE = (ProcessStatus.PENDING, ProcessStatus.RUNNING, ProcessStatus.WAITING)


class Notice(models.TextChoices):
    """What people should know about a process although it goes well."""

    NO_BATCHES = "no_batches", _("This provider has no batches: the requests are sent one by one.")
    PROVIDER_CHANGED = (
        "provider_changed",
        _("The provider was changed meanwhile: the rest was sent to the new one."),
    )


class LedgerStatus(models.TextChoices):
    """Of one request as the provider knows it."""

    SENT = "SENT", _("Sent")
    ANSWERED = "ANSWERED", _("Answered")
    FAILED = "FAILED", _("Failed")


class BatchState(models.TextChoices):
    """What we know about a batch of a provider. Each is written before the step that it names."""

    PREPARING = "PREPARING", _("Being put together")
    CREATING = "CREATING", _("Being created")
    OPEN = "OPEN", _("At the provider")
    COLLECTED = "COLLECTED", _("Collected")
    ABANDONED = "ABANDONED", _("Never created")


class JsonMode(models.TextChoices):
    """How far a server can be held to a JSON schema."""

    SCHEMA = "schema", _("JSON schema")
    OBJECT = "object", _("JSON")
    PLAIN = "plain", _("Instructions only")
