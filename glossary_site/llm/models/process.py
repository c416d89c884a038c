from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from glossary_site.jobs.models import JobRun
from glossary_site.llm.choices import (
    ENDED,
    Notice,
    ProcessStatus,
    ProviderKind,
    Strategy,
)
from glossary_site.llm.models.provider import MODEL_LENGTH, PRICE, URL_LENGTH
from glossary_site.llm.querysets import LLMProcessQuerySet
from glossary_site.llm.tokens import cost_of_nano

SCOPE_LENGTH = 64
# The scope of what belongs to no project.
SITE = "site"


class LLMProcess(models.Model):
    """Everything that was enqueued together. Its requests go when they are answered; this stays."""

    id = models.UUIDField(primary_key=True, editable=False)
    scope = models.CharField(_("scope"), max_length=SCOPE_LENGTH, default=SITE)
    strategy = models.CharField(_("strategy"), max_length=10, choices=Strategy)
    status = models.CharField(
        _("status"), max_length=10, choices=ProcessStatus, default=ProcessStatus.PENDING
    )
    notice = models.CharField(_("notice"), max_length=20, choices=Notice, blank=True)
    error = models.TextField(_("error"), blank=True)
    # Of whoever asked: what goes wrong is told in it.
    language = models.CharField(_("language"), max_length=10, default="en")

    # Who answers, and for how much; never with a key.
    provider_kind = models.CharField(_("provider"), max_length=10, choices=ProviderKind)
    base_url = models.CharField(_("base URL"), max_length=URL_LENGTH, blank=True)
    model = models.CharField(_("model"), max_length=MODEL_LENGTH, blank=True)
    input_price = models.DecimalField(_("input price"), null=True, blank=True, **PRICE)
    output_price = models.DecimalField(_("output price"), null=True, blank=True, **PRICE)

    total = models.PositiveIntegerField(_("requests"), default=0)
    # Whoever works on it has more requests for it than it has.
    growing = models.BooleanField(_("more requests to come"), default=False)
    completed = models.PositiveIntegerField(_("answered"), default=0)
    failed = models.PositiveIntegerField(_("failed"), default=0)
    # Of the answered: those that the ledger knew.
    served = models.PositiveIntegerField(_("from the ledger"), default=0)

    # Costs are whole billionths, so that sums and comparisons are exact on every database.
    reserved_tokens = models.PositiveBigIntegerField(_("reserved tokens"), default=0)
    reserved_nano = models.PositiveBigIntegerField(_("reserved cost (billionths)"), default=0)
    input_tokens = models.PositiveBigIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveBigIntegerField(_("output tokens"), default=0)
    cost_nano = models.PositiveBigIntegerField(_("cost (billionths)"), default=0)
    # What of this has been entered into the month's spending: all of it, when the process ends.
    booked_tokens = models.PositiveBigIntegerField(_("booked tokens"), default=0)
    booked_nano = models.PositiveBigIntegerField(_("booked cost (billionths)"), default=0)
    month = models.DateField(_("month"))

    # The run that works on it, or did last.
    run = models.ForeignKey(
        JobRun,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("run"),
    )
    # How often it was taken up; how often in a row without getting any further.
    turns = models.PositiveIntegerField(_("turns"), default=0)
    stalls = models.PositiveIntegerField(_("turns without progress"), default=0)
    # The work that follows when all requests have ended. What it means is for others to know.
    then_kind = models.CharField(_("then"), max_length=100, blank=True)
    then_payload = models.JSONField(_("payload of that"), default=dict, blank=True)

    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    progress_at = models.DateTimeField(_("last progress"))
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    consumed_at = models.DateTimeField(_("answers taken"), null=True, blank=True)

    objects = LLMProcessQuerySet.as_manager()

    # Whether `enqueue` made this row, or found it there.
    fresh: bool = False
    # Whether it was parked because nobody was answered, when it was taken up.
    unheard: bool = False

    class Meta:
        verbose_name = _("LLM process")
        verbose_name_plural = _("LLM processes")
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=ProcessStatus.values), name="llm_process_status_known"
            ),
            models.CheckConstraint(
                condition=Q(strategy__in=Strategy.values), name="llm_process_strategy_known"
            ),
            models.CheckConstraint(condition=~Q(scope=""), name="llm_process_has_a_scope"),
            models.CheckConstraint(
                condition=Q(status__in=ENDED, finished_at__isnull=False)
                | (~Q(status__in=ENDED) & Q(finished_at__isnull=True)),
                name="llm_process_finished_when_ended",
            ),
            models.CheckConstraint(
                condition=Q(growing=False) | ~Q(status__in=ENDED),
                name="llm_process_whole_when_ended",
            ),
            # Answers are taken away when there are no more to come.
            models.CheckConstraint(
                condition=Q(consumed_at__isnull=True) | Q(status__in=ENDED),
                name="llm_process_consumed_when_ended",
            ),
            models.CheckConstraint(
                condition=Q(total__gte=F("completed") + F("failed"), completed__gte=F("served")),
                name="llm_process_counts_within_total",
            ),
            # Ended means that nothing is kept back any more, and that every request has its end.
            models.CheckConstraint(
                condition=~Q(status__in=ENDED)
                | Q(reserved_tokens=0, reserved_nano=0, total=F("completed") + F("failed")),
                name="llm_process_settled_when_ended",
            ),
        ]
        indexes = [
            # "What is going on" everywhere and in one project; lists of it, the newest first.
            models.Index(fields=["status", "-created_at"], name="llm_process_by_status"),
            models.Index(fields=["scope", "-created_at"], name="llm_process_by_scope"),
            # Lists: "the newest".
            models.Index(fields=["-created_at"], name="llm_process_newest"),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def done(self) -> int:
        return self.completed + self.failed

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def priced(self) -> bool:
        return self.input_price is not None and self.output_price is not None

    @property
    def cost(self) -> Decimal | None:
        """What it has cost so far; None where no price is known."""
        return cost_of_nano(self.cost_nano) if self.priced else None

    @property
    def reserved_cost(self) -> Decimal | None:
        return cost_of_nano(self.reserved_nano) if self.priced else None

    @property
    def stream(self) -> str:
        """The live feed that tells of it."""
        return stream_of(self.scope)

    def facts(self) -> dict[str, Any]:
        """What the feed and the audit say about it."""
        return {
            "process_id": str(self.pk),
            "status": str(self.status),
            "done": self.done,
            "failed": self.failed,
            "served": self.served,
            "total": self.total,
            "growing": self.growing,
            "tokens": self.tokens,
        }


def stream_of(scope: str) -> str:
    return "operations" if scope == SITE else scope
