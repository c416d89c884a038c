from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from indexing.choices import ENDED, RequestStatus
from indexing.querysets import IndexRequestQuerySet
from projects.models import Document, Project


class IndexRequest(models.Model):
    """A text of a document that wants indexing. Every change of a text makes one."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="index_requests",
        db_index=False,  # request_queue and request_recent begin with it
        verbose_name=_("project"),
    )
    document = models.ForeignKey(
        Document,
        on_delete=models.CASCADE,
        related_name="index_requests",
        db_index=False,  # request_of_document begins with it
        verbose_name=_("document"),
    )
    # The text it is about. Its version orders the requests of a document; its hash is compared.
    document_hash = models.CharField(_("SHA-256"), max_length=64)
    document_version = models.PositiveIntegerField(_("version"))
    status = models.CharField(
        _("status"), max_length=10, choices=RequestStatus, default=RequestStatus.PENDING
    )
    # Make sections and vectors anew, even where the text is the same.
    force = models.BooleanField(_("forced"), default=False)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    # Of the last attempt; stays while the next one waits.
    error = models.TextField(_("error"), blank=True)
    created_at = models.DateTimeField(_("created at"))
    # Not before this; later than created_at only after a failure.
    due_at = models.DateTimeField(_("due at"))
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    completed_at = models.DateTimeField(_("completed at"), null=True, blank=True)
    # The job that processes it (none: somebody at a terminal), until when, and the how-manieth time
    # it was taken: the fence against a worker that wakes after it was given up.
    job_run_id = models.BigIntegerField(_("job"), null=True, blank=True)
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    claim = models.PositiveIntegerField(_("claim"), default=0)

    objects = IndexRequestQuerySet.as_manager()

    class Meta:
        verbose_name = _("index request")
        verbose_name_plural = _("index requests")
        ordering = ("-pk",)
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=RequestStatus.values), name="request_status_known"
            ),
            # Which columns go with which status.
            models.CheckConstraint(
                condition=Q(
                    status=RequestStatus.PENDING,
                    started_at__isnull=True,
                    completed_at__isnull=True,
                    lease_until__isnull=True,
                )
                | Q(
                    status=RequestStatus.PROCESSING,
                    started_at__isnull=False,
                    completed_at__isnull=True,
                    lease_until__isnull=False,
                )
                | Q(status__in=ENDED, completed_at__isnull=False, lease_until__isnull=True),
                name="request_times_of_status",
            ),
            models.CheckConstraint(
                condition=Q(completed_at__isnull=True)
                | Q(started_at__isnull=True)
                | Q(completed_at__gte=F("started_at")),
                name="request_ends_after_start",
            ),
            models.CheckConstraint(
                condition=~Q(status=RequestStatus.FAILED) | ~Q(error=""),
                name="request_failed_has_error",
            ),
            # Two workers never build one document at once.
            models.UniqueConstraint(
                fields=["document"],
                condition=Q(status=RequestStatus.PROCESSING),
                name="request_one_processing",
            ),
        ]
        indexes = [
            # "The newest pending of a document", "is a document being updated".
            models.Index(
                "document", "status", F("document_version").desc(), name="request_of_document"
            ),
            # "What waits in a project, the oldest first"; "which paths are being updated"; counts.
            models.Index("project", "status", "due_at", name="request_queue"),
            # For the sweep: lapsed leases, due retries, and what waits in any project.
            models.Index("status", "due_at", name="request_status"),
            # Lists, newest first; the removal of old ones.
            models.Index("project", F("id").desc(), name="request_recent"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} v{self.document_version} {self.status}"
