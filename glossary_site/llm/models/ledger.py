from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from glossary_site.llm.choices import LedgerStatus
from glossary_site.llm.models.provider import MODEL_LENGTH, URL_LENGTH
from glossary_site.llm.querysets import LedgerQuerySet

FINGERPRINT_LENGTH = 64


class LedgerEntry(models.Model):
    """A request as the provider saw it: written before it is sent, completed by its answer."""

    # Of everything the answer depends on: address, model, messages and parameters.
    fingerprint = models.CharField(_("fingerprint"), max_length=FINGERPRINT_LENGTH)
    # Empty, or whose own entry it is: a request that wants a fresh answer.
    apart = models.CharField(_("apart for"), max_length=36, blank=True)
    status = models.CharField(
        _("status"), max_length=8, choices=LedgerStatus, default=LedgerStatus.SENT
    )
    process_id = models.UUIDField(_("process"))
    # The request in the queue, which a batch knows by this name.
    custom_id = models.UUIDField(_("request"))
    batch_job_id = models.CharField(_("batch"), max_length=200, blank=True)
    base_url = models.CharField(_("base URL"), max_length=URL_LENGTH, blank=True)
    model = models.CharField(_("model"), max_length=MODEL_LENGTH, blank=True)
    answer_json = models.TextField(_("answer"), blank=True)
    error = models.TextField(_("error"), blank=True)
    # How often it went out without an answer coming back.
    sendings = models.PositiveIntegerField(_("sendings"), default=1)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    cost_nano = models.PositiveBigIntegerField(_("cost (billionths)"), default=0)
    sent_at = models.DateTimeField(_("sent"))
    answered_at = models.DateTimeField(_("answered"), null=True, blank=True)

    objects = LedgerQuerySet.as_manager()

    class Meta:
        verbose_name = _("ledger entry")
        verbose_name_plural = _("ledger entries")
        ordering = ("-pk",)
        constraints = [
            # Also the index for "is there an answer to this".
            models.UniqueConstraint(fields=["fingerprint", "apart"], name="llm_ledger_once"),
            models.CheckConstraint(
                condition=Q(
                    status=LedgerStatus.SENT, answer_json="", error="", answered_at__isnull=True
                )
                | (Q(status=LedgerStatus.ANSWERED, error="") & ~Q(answer_json=""))
                | (Q(status=LedgerStatus.FAILED) & ~Q(error="")),
                name="llm_ledger_columns_fit_status",
            ),
            models.CheckConstraint(
                condition=~Q(status=LedgerStatus.ANSWERED) | Q(answered_at__isnull=False),
                name="llm_ledger_answered_at_a_time",
            ),
        ]
        indexes = [
            # "What did this process send"; forgetting its failures before another try.
            models.Index(fields=["process_id", "status"], name="llm_ledger_process"),
            # Retention: "entries older than".
            models.Index(fields=["sent_at"], name="llm_ledger_age"),
        ]

    def __str__(self) -> str:
        return f"{self.fingerprint[:12]} {self.status}"
