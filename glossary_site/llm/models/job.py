from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from glossary_site.llm.choices import JobStatus
from glossary_site.llm.querysets import LLMJobQuerySet


class LLMJob(models.Model):
    """A request that waits for its answer, or an answer that waits for whoever asked.

    A row is here for a while only: it is deleted when its answer is taken away. Its key grows with
    each row, so the order of the keys is the order in which the requests came.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    # Whoever asked knows what this number means; nothing here does.
    process_id = models.UUIDField(_("process"))
    # Text and not a JSON column: the order of a schema's properties matters to a model, and
    # PostgreSQL would neither keep it nor take every character that a document may have.
    request_json = models.TextField(_("request"))
    status = models.CharField(
        _("status"), max_length=11, choices=JobStatus, default=JobStatus.PENDING
    )
    batch_job_id = models.CharField(_("batch"), max_length=200, null=True, blank=True)  # noqa: DJ001
    response_json = models.TextField(_("response"), null=True, blank=True)  # noqa: DJ001
    error_message = models.TextField(_("error"), null=True, blank=True)  # noqa: DJ001
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = LLMJobQuerySet.as_manager()

    class Meta:
        verbose_name = _("request in the queue")
        verbose_name_plural = _("requests in the queue")
        ordering = ("id",)
        constraints = [
            # Which columns go with which status.
            models.CheckConstraint(
                condition=Q(
                    status=JobStatus.PENDING,
                    batch_job_id__isnull=True,
                    response_json__isnull=True,
                    error_message__isnull=True,
                )
                | Q(
                    status=JobStatus.IN_PROGRESS,
                    response_json__isnull=True,
                    error_message__isnull=True,
                )
                | Q(
                    status=JobStatus.COMPLETED,
                    response_json__isnull=False,
                    error_message__isnull=True,
                )
                | (
                    Q(
                        status=JobStatus.FAILED,
                        response_json__isnull=True,
                        error_message__isnull=False,
                    )
                    & ~Q(error_message="")
                ),
                name="llm_job_columns_fit_status",
            ),
        ]
        indexes = [
            # Its results in order; the next ones to send; what was in flight when a worker died.
            models.Index(fields=["process_id", "status", "id"], name="llm_job_next"),
            # "The requests of this process", all of them, in order.
            models.Index(fields=["process_id", "id"], name="llm_job_of_process"),
            # "The requests within this batch."
            models.Index(fields=["batch_job_id"], name="llm_job_of_batch"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
