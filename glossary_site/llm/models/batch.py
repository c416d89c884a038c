from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from glossary_site.jobs.payloads import storable
from glossary_site.llm.choices import BatchState
from glossary_site.llm.models.process import LLMProcess

ID_LENGTH = 200
STATUS_LENGTH = 40


class ProviderBatch(models.Model):
    """A batch at the provider. Each state is written before the step that it names, so that after a
    crash it is known what the provider may have seen."""

    process = models.ForeignKey(
        LLMProcess,
        on_delete=models.CASCADE,
        related_name="batches",
        # The unique constraint begins with it.
        db_index=False,
        verbose_name=_("process"),
    )
    # Both are in the batch's metadata at the provider: that is how it is found again.
    number = models.PositiveIntegerField(_("number"))
    state = models.CharField(
        _("state"), max_length=10, choices=BatchState, default=BatchState.PREPARING
    )
    requests = models.PositiveIntegerField(_("requests"), default=0)
    file_id = models.CharField(_("input file"), max_length=ID_LENGTH, blank=True)
    batch_id = models.CharField(_("batch"), max_length=ID_LENGTH, blank=True)
    # The provider's own words and counts, as of the last look.
    provider_status = models.CharField(_("provider's status"), max_length=STATUS_LENGTH, blank=True)
    completed = models.PositiveIntegerField(_("answered"), default=0)
    failed = models.PositiveIntegerField(_("failed"), default=0)
    # How often it was asked about, and looked for after a crash.
    polls = models.PositiveIntegerField(_("polls"), default=0)
    searches = models.PositiveIntegerField(_("searches"), default=0)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    collected_at = models.DateTimeField(_("collected"), null=True, blank=True)

    class Meta:
        verbose_name = _("provider batch")
        verbose_name_plural = _("provider batches")
        ordering = ("process", "number")
        constraints = [
            # Also the index for "the batches of this process".
            models.UniqueConstraint(fields=["process", "number"], name="llm_batch_numbered_once"),
            models.CheckConstraint(
                condition=Q(state=BatchState.PREPARING, file_id="", batch_id="")
                | (Q(state=BatchState.CREATING, batch_id="") & ~Q(file_id=""))
                | (Q(state__in=[BatchState.OPEN, BatchState.COLLECTED]) & ~Q(batch_id=""))
                | Q(state=BatchState.ABANDONED, batch_id=""),
                name="llm_batch_columns_fit_state",
            ),
            # A request that is in flight without a batch's name belongs to this one.
            models.UniqueConstraint(
                fields=["process"],
                condition=Q(state__in=[BatchState.PREPARING, BatchState.CREATING]),
                name="llm_batch_one_in_the_making",
            ),
        ]

    def __str__(self) -> str:
        return self.batch_id or f"{self.process_id}#{self.number}"

    def note_status(self, there: object) -> None:
        """The SDK hands on whatever a server calls it."""
        self.provider_status = storable(str(there or ""))[:STATUS_LENGTH]
