from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from glossary_site.llm.choices import LedgerStatus
from glossary_site.llm.models.ledger import FINGERPRINT_LENGTH
from glossary_site.llm.models.process import SCOPE_LENGTH
from glossary_site.llm.models.provider import MODEL_LENGTH, URL_LENGTH


class EmbeddingCall(models.Model):
    """Texts that were sent for their vectors: the ledger's page for embeddings.

    Written before they are sent, completed by the answer, and removed an hour later: whoever asked
    has stored the vectors by then. What they cost stays in the month's spending.
    """

    # Of everything the answer depends on: address, model and texts.
    fingerprint = models.CharField(_("fingerprint"), max_length=FINGERPRINT_LENGTH, unique=True)
    status = models.CharField(
        _("status"), max_length=8, choices=LedgerStatus, default=LedgerStatus.SENT
    )
    # Who sent it last, and alone may give back what is kept for it.
    owner = models.UUIDField(_("sender"))
    scope = models.CharField(_("scope"), max_length=SCOPE_LENGTH)
    month = models.DateField(_("month"))
    base_url = models.CharField(_("base URL"), max_length=URL_LENGTH)
    model = models.CharField(_("model"), max_length=MODEL_LENGTH)
    texts = models.PositiveIntegerField(_("texts"))
    dimensions = models.PositiveIntegerField(_("dimensions"), default=0)
    # Unit vectors one after the other, 16-bit floats, little end first.
    vectors = models.BinaryField(_("vectors"), default=b"")
    error = models.TextField(_("error"), blank=True)
    # How often it went out without an answer coming back.
    sendings = models.PositiveIntegerField(_("sendings"), default=0)
    reserved_tokens = models.PositiveBigIntegerField(_("reserved tokens"), default=0)
    reserved_nano = models.PositiveBigIntegerField(_("reserved cost (billionths)"), default=0)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    cost_nano = models.PositiveBigIntegerField(_("cost (billionths)"), default=0)
    sent_at = models.DateTimeField(_("sent"))
    answered_at = models.DateTimeField(_("answered"), null=True, blank=True)

    class Meta:
        verbose_name = _("embedding call")
        verbose_name_plural = _("embedding calls")
        ordering = ("-pk",)
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    status=LedgerStatus.SENT, error="", dimensions=0, answered_at__isnull=True
                )
                | Q(
                    status=LedgerStatus.ANSWERED,
                    error="",
                    dimensions__gt=0,
                    answered_at__isnull=False,
                )
                | (Q(status=LedgerStatus.FAILED, dimensions=0) & ~Q(error="")),
                name="llm_embedding_fits_status",
            ),
            # Nothing is kept back for what is over.
            models.CheckConstraint(
                condition=Q(status=LedgerStatus.SENT) | Q(reserved_tokens=0, reserved_nano=0),
                name="llm_embedding_settled",
            ),
        ]
        indexes = [
            # Retention: "calls older than".
            models.Index(fields=["sent_at"], name="llm_embedding_age"),
        ]

    def __str__(self) -> str:
        return f"{self.fingerprint[:12]} {self.status}"
