from datetime import datetime

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from glossary_site.jobs.models import JobRun
from glossary_site.people.models import User
from projects.models import Project
from projects.models.terms import TERM_LENGTH
from runs.choices import ACTIVE, ENDED, Scope, Status, Step
from runs.querysets import RunQuerySet

ERROR_LENGTH = 1024


class Run(models.Model):
    """One way through the pipeline, or through a part of it."""

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="runs",
        db_index=False,  # run_recent begins with it
        verbose_name=_("project"),
    )
    scope = models.CharField(_("scope"), max_length=22, choices=Scope)
    status = models.CharField(_("status"), max_length=9, choices=Status, default=Status.PENDING)
    # The run whose results it begins with: its terms, its provisional entries, its issues.
    base = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="followers",
        verbose_name=_("based on"),
    )
    # {"only": [keys of terms], "limit": …}: see `services/options.py`.
    options = models.JSONField(_("options"), default=dict, blank=True)
    # The door it came in by ("web", "api", "command", …), and the person.
    triggered_by = models.CharField(_("started by"), max_length=30, default="api")
    actor = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("person"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    error_message = models.CharField(_("error"), max_length=ERROR_LENGTH, blank=True)
    # Where it is. Zeros where the step has nothing to count.
    current_step = models.CharField(_("step"), max_length=8, choices=Step, blank=True)
    progress_current = models.PositiveIntegerField(_("done"), default=0)
    progress_total = models.PositiveIntegerField(_("of"), default=0)
    current_term = models.CharField(_("current term"), max_length=TERM_LENGTH, blank=True)
    progress_at = models.DateTimeField(_("last progress"), null=True, blank=True)
    # The number of its newest RunLog. Raising it locks the row, so that numbers become visible in
    # order.
    log_count = models.PositiveIntegerField(_("log lines"), default=0)
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
    # How far it was when its work was last taken up again: see `services/settling.py`.
    mark = models.PositiveBigIntegerField(_("how far it was"), default=0)
    # Who answers, and what it took.
    provider = models.CharField(_("provider"), max_length=20, blank=True)
    model = models.CharField(_("model"), max_length=200, blank=True)
    requests = models.PositiveIntegerField(_("LLM requests"), default=0)
    served = models.PositiveIntegerField(_("answered from the ledger"), default=0)
    input_tokens = models.PositiveBigIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveBigIntegerField(_("output tokens"), default=0)
    cost_nano = models.PositiveBigIntegerField(_("cost, in billionths"), default=0)
    failure_count = models.PositiveIntegerField(_("failures"), default=0)
    # The last time, whatever has become of it since: `published`, of `with_publication()`, tells.
    published_at = models.DateTimeField(_("published at"), null=True, blank=True)
    published: datetime | None

    objects = RunQuerySet.as_manager()

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering = ("-pk",)
        constraints = [
            models.CheckConstraint(condition=Q(status__in=Status.values), name="run_status_known"),
            models.CheckConstraint(condition=Q(scope__in=Scope.values), name="run_scope_known"),
            # However many ask at once: one of a project's runs is under way.
            models.UniqueConstraint(
                fields=["project"], condition=Q(status__in=ACTIVE), name="run_one_active"
            ),
            # Which columns go with which status.
            models.CheckConstraint(
                condition=Q(
                    status=Status.PENDING, started_at__isnull=True, finished_at__isnull=True
                )
                | Q(status=Status.RUNNING, started_at__isnull=False, finished_at__isnull=True)
                | Q(status=Status.COMPLETED, started_at__isnull=False, finished_at__isnull=False)
                | Q(status__in=[Status.CANCELLED, Status.FAILED], finished_at__isnull=False),
                name="run_times_of_status",
            ),
            models.CheckConstraint(
                condition=(Q(status=Status.FAILED) & ~Q(error_message=""))
                | (~Q(status=Status.FAILED) & Q(error_message="")),
                name="run_error_if_failed",
            ),
            models.CheckConstraint(
                condition=Q(progress_current__lte=F("progress_total")),
                name="run_progress_within_total",
            ),
        ]
        indexes = [
            # A project's history, newest first.
            models.Index("project", F("id").desc(), name="run_recent"),
            # What the sweep looks after.
            models.Index("status", "id", name="run_by_status"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.get_scope_display()}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.project_id, self.pk])

    @property
    def is_active(self) -> bool:
        return self.status in ACTIVE

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED


class RunStep(models.Model):
    """A step of a run: when it was done, and how much of it there was."""

    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="steps",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("run"),
    )
    step = models.CharField(_("step"), max_length=8, choices=Step)
    order = models.PositiveSmallIntegerField(_("order"))
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    # What it had to do, what came of it.
    total = models.PositiveIntegerField(_("total"), default=0)
    done = models.PositiveIntegerField(_("done"), default=0)
    failed = models.PositiveIntegerField(_("failed"), default=0)
    # The LLM process that answers for it; None before it has asked, or when nothing was asked.
    process_id = models.UUIDField(_("LLM process"), null=True, blank=True)
    # Whether its answers are stored as they come; else all together, when the last has come.
    live = models.BooleanField(_("stored as they come"), default=False)

    class Meta:
        verbose_name = _("run step")
        verbose_name_plural = _("run steps")
        ordering = ("run", "order")
        constraints = [
            models.UniqueConstraint(fields=["run", "step"], name="runstep_once"),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True) | Q(started_at__isnull=False),
                name="runstep_starts_before_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} · {self.get_step_display()}"


class RunDocument(models.Model):
    """A document as the run read it. Its text is the version of that number."""

    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="documents",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("run"),
    )
    # A number, because the document may be deleted and the run stays as it was.
    document_id = models.BigIntegerField(_("document"))
    path = models.CharField(_("path"), max_length=1000)
    file_hash = models.CharField(_("SHA-256"), max_length=64)
    version = models.PositiveIntegerField(_("version"))

    class Meta:
        verbose_name = _("document of a run")
        verbose_name_plural = _("documents of runs")
        ordering = ("run", "path")
        constraints = [
            models.UniqueConstraint(fields=["run", "document_id"], name="rundocument_once"),
        ]

    def __str__(self) -> str:
        return self.path
