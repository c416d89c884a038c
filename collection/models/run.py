import uuid

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from collection.choices import ResultStatus, RunStatus
from collection.models.commit import BRANCH_LENGTH
from collection.models.repository import Repository
from collection.querysets import CollectionQuerySet, CollectionResultQuerySet
from glossary_site.jobs.models import JobRun
from glossary_site.people.models import User
from projects.models import Project

MESSAGE_LENGTH = 1024


class BulkCollectionRun(models.Model):
    """One collection over many targets."""

    run_id = models.UUIDField(_("run"), primary_key=True, default=uuid.uuid4, editable=False)
    started_at = models.DateTimeField(_("started at"), default=timezone.now)
    completed_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    status = models.CharField(
        _("status"), max_length=9, choices=RunStatus, default=RunStatus.RUNNING
    )
    total_targets = models.PositiveIntegerField(_("targets"))
    # Targets that came to a good end, by both names that programs know: always equal.
    completed_count = models.PositiveIntegerField(_("completed"), default=0)
    success_count = models.PositiveIntegerField(_("succeeded"), default=0)
    # Targets that were given up. What is neither is pending.
    failed_count = models.PositiveIntegerField(_("failed"), default=0)
    new_commits = models.PositiveBigIntegerField(_("new commits"), default=0)

    # Whose repositories they are; None: a collection of all projects.
    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="collections",
        verbose_name=_("project"),
    )
    # A first collection of a branch begins here, whatever its repository says.
    since = models.DateTimeField(_("since"), null=True, blank=True)
    # Whether branches that are found on the way become targets, too: not where they were chosen.
    grows = models.BooleanField(_("takes new branches"), default=True)
    # The run whose failed or pending targets these are.
    continues = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="continued_by",
        verbose_name=_("continues"),
    )
    triggered_by = models.CharField(_("started by"), max_length=30, default="api")
    actor = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("person"),
    )
    progress_at = models.DateTimeField(_("last progress"), null=True, blank=True)
    # The work behind it, and how often that ended without having got anywhere.
    job = models.ForeignKey(
        JobRun,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("job"),
    )
    stalls = models.PositiveSmallIntegerField(_("stalls"), default=0)
    mark = models.PositiveBigIntegerField(_("how far it was"), default=0)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        verbose_name = _("bulk collection")
        verbose_name_plural = _("bulk collections")
        ordering = ("-started_at", "run_id")
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=RunStatus.values), name="collection_status_known"
            ),
            # However many ask at once: one is running.
            models.UniqueConstraint(
                fields=["status"],
                condition=Q(status=RunStatus.RUNNING),
                name="collection_one_running",
            ),
            models.CheckConstraint(
                condition=Q(completed_count__lte=F("total_targets") - F("failed_count")),
                name="collection_counts_within_total",
            ),
            models.CheckConstraint(
                condition=Q(completed_count=F("success_count")),
                name="collection_completed_is_success",
            ),
            models.CheckConstraint(
                condition=Q(status=RunStatus.RUNNING, completed_at__isnull=True)
                | (~Q(status=RunStatus.RUNNING) & Q(completed_at__isnull=False)),
                name="collection_end_if_ended",
            ),
        ]
        indexes = [
            # Is one running; the history, newest first.
            models.Index("status", "started_at", name="collection_by_status"),
        ]

    def __str__(self) -> str:
        return str(self.run_id)

    def get_absolute_url(self) -> str:
        if self.project_id is None:
            return reverse("admin:collection_bulkcollectionrun_change", args=[self.pk])
        return reverse("collection-run", args=[self.project_id, self.run_id])

    @property
    def is_running(self) -> bool:
        return self.status == RunStatus.RUNNING

    @property
    def pending_count(self) -> int:
        return self.total_targets - self.completed_count - self.failed_count

    @property
    def done_count(self) -> int:
        return self.completed_count + self.failed_count


class BulkCollectionResult(models.Model):
    """What became of one target: a branch of a repository."""

    run = models.ForeignKey(
        BulkCollectionRun,
        on_delete=models.CASCADE,
        related_name="results",
        db_index=False,  # result_once begins with it
        verbose_name=_("bulk collection"),
    )
    repository = models.ForeignKey(
        Repository,
        on_delete=models.CASCADE,
        related_name="results",
        db_index=False,  # result_of_target begins with it
        verbose_name=_("repository"),
    )
    # `HEAD` until it is known what the default branch is called.
    branch_name = models.CharField(_("branch"), max_length=BRANCH_LENGTH)
    status = models.CharField(
        _("status"), max_length=7, choices=ResultStatus, default=ResultStatus.PENDING
    )
    new_commits_count = models.PositiveIntegerField(_("new commits"), null=True, blank=True)
    error_message = models.CharField(_("error"), max_length=MESSAGE_LENGTH, blank=True)
    processed_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    # What it is at, while it is pending: commits stored so far, tries, the last error.
    commits_so_far = models.PositiveIntegerField(_("commits so far"), default=0)
    commits_expected = models.PositiveIntegerField(_("commits to come"), default=0)
    in_hand_since = models.DateTimeField(_("in hand since"), null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    last_error = models.CharField(_("last error"), max_length=MESSAGE_LENGTH, blank=True)
    next_retry_at = models.DateTimeField(_("next try"), null=True, blank=True)
    # Worth knowing although it went well: "The history was rewritten …".
    note = models.CharField(_("note"), max_length=MESSAGE_LENGTH, blank=True)

    objects = CollectionResultQuerySet.as_manager()

    class Meta:
        verbose_name = _("collection result")
        verbose_name_plural = _("collection results")
        ordering = ("run", "pk")
        constraints = [
            models.UniqueConstraint(
                fields=["run", "repository", "branch_name"], name="result_once"
            ),
            models.CheckConstraint(
                condition=Q(status__in=ResultStatus.values), name="result_status_known"
            ),
            models.CheckConstraint(
                condition=~Q(status=ResultStatus.SUCCESS) | Q(new_commits_count__isnull=False),
                name="result_success_has_count",
            ),
            models.CheckConstraint(
                condition=~Q(status=ResultStatus.FAILED) | ~Q(error_message=""),
                name="result_failure_has_message",
            ),
            models.CheckConstraint(
                condition=Q(status=ResultStatus.PENDING, processed_at__isnull=True)
                | (~Q(status=ResultStatus.PENDING) & Q(processed_at__isnull=False)),
                name="result_time_if_ended",
            ),
        ]
        indexes = [
            # What is left to do; what failed, for another try.
            models.Index("run", "status", name="result_of_run"),
            # The story of one target.
            models.Index("repository", "branch_name", "status", name="result_of_target"),
        ]

    def __str__(self) -> str:
        return f"{self.repository_id} {self.branch_name}"
