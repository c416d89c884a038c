"""The rows that make work count once, whatever is delivered twice, killed, paused or cut off."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from glossary_site.jobs.choices import (
    HELD,
    TERMINAL,
    UNSUCCESSFUL,
    Continuation,
    Lane,
    Policy,
    State,
    WorkerRole,
)
from glossary_site.jobs.querysets import (
    JobDefinitionQuerySet,
    JobRunQuerySet,
    TriggerEventQuerySet,
    WorkerQuerySet,
)

NAME_LENGTH = 100


class JobDefinition(models.Model):
    """Work that begins by itself: by the clock, or when an event arrives."""

    name = models.CharField(_("name"), max_length=NAME_LENGTH, unique=True)
    kind = models.CharField(_("kind"), max_length=NAME_LENGTH)
    payload = models.JSONField(_("payload"), default=dict, blank=True)
    cron = models.CharField(
        _("cron"),
        max_length=NAME_LENGTH,
        blank=True,
        help_text=_("When it runs, such as “17 3 * * *”; empty: only by hand or by an event."),
    )
    event_type = models.CharField(
        _("event"),
        max_length=NAME_LENGTH,
        blank=True,
        help_text=_("The type of incoming event that starts it."),
    )
    policy = models.CharField(
        _("when one is still running"), max_length=10, choices=Policy, default=Policy.FORBID
    )
    # Empty: as the kind says.
    timeout_seconds = models.PositiveIntegerField(_("timeout (seconds)"), null=True, blank=True)
    retries = models.PositiveSmallIntegerField(_("retries"), null=True, blank=True)
    enabled = models.BooleanField(_("enabled"), default=True)
    # Slots before this time are never made up for: nothing was due while it was off.
    enabled_at = models.DateTimeField(_("enabled since"), default=timezone.now)
    # Its timer; django-q2 counts the hours.
    schedule = models.OneToOneField(
        "django_q.Schedule",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("timer"),
    )
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = JobDefinitionQuerySet.as_manager()

    class Meta:
        verbose_name = _("job definition")
        verbose_name_plural = _("job definitions")
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(
                condition=Q(timeout_seconds__isnull=True) | Q(timeout_seconds__gt=0),
                name="jobs_definition_timeout_positive",
            ),
            models.CheckConstraint(
                condition=Q(policy__in=Policy.values), name="jobs_definition_policy_known"
            ),
        ]
        indexes = [
            # An event arrived: "the enabled definitions that it starts".
            models.Index(fields=["event_type", "enabled"], name="jobs_definition_by_event"),
        ]

    def __str__(self) -> str:
        return self.name


class JobRun(models.Model):
    """One piece of work. Its state moves only by `services/transitions.py`."""

    kind = models.CharField(_("kind"), max_length=NAME_LENGTH)
    lane = models.CharField(_("lane"), max_length=10, choices=Lane)
    payload = models.JSONField(_("payload"), default=dict)
    # Whose work it is, such as `project:7`: a word of the apps above, which nothing here reads.
    scope = models.CharField(_("scope"), max_length=64, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.PENDING)
    # Every change raises it, and names the one it saw.
    version = models.PositiveIntegerField(_("version"), default=1)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=1)
    max_attempts = models.PositiveSmallIntegerField(_("attempts allowed"), default=1)
    retry_of = models.OneToOneField(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="next_attempt",
        verbose_name=_("next attempt after"),
    )
    definition = models.ForeignKey(
        JobDefinition,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="runs",
        # The unique constraint begins with it.
        db_index=False,
        verbose_name=_("definition"),
    )
    scheduled_for = models.DateTimeField(_("scheduled for"), null=True, blank=True)
    idempotency_key = models.CharField(
        _("idempotency key"), max_length=200, null=True, blank=True, unique=True
    )

    # When it may begin, and when its last delivery was sent off (none: not yet).
    due_at = models.DateTimeField(_("due"), default=timezone.now)
    rung_at = models.DateTimeField(_("delivered"), null=True, blank=True)

    # Who has it in hand, in which reign, and until when if nothing more is heard.
    assigned_worker = models.CharField(_("worker"), max_length=NAME_LENGTH, blank=True)
    assigned_at = models.DateTimeField(_("assigned"), null=True, blank=True)
    leader_epoch = models.PositiveIntegerField(_("leader epoch"), null=True, blank=True)
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    continuation_state = models.CharField(
        _("continuation"), max_length=10, choices=Continuation, default=Continuation.NONE
    )
    continuation_deadline = models.DateTimeField(_("confirm until"), null=True, blank=True)

    timeout_seconds = models.PositiveIntegerField(_("timeout (seconds)"))
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    progress_current = models.PositiveIntegerField(_("done"), default=0)
    progress_total = models.PositiveIntegerField(_("of"), default=0)
    progress_message = models.CharField(_("progress"), max_length=200, blank=True)
    progress_at = models.DateTimeField(_("last progress"), null=True, blank=True)

    result = models.JSONField(_("result"), null=True, blank=True)
    error = models.TextField(_("error"), blank=True)
    # Once its log has left the database: the file that holds it.
    log_ref = models.CharField(_("log file"), max_length=200, blank=True)
    trace_id = models.CharField(_("trace"), max_length=64, blank=True)

    objects = JobRunQuerySet.as_manager()

    # Whether `enqueue` made this row, or found it there.
    fresh: bool = False
    # The leader's epoch when a worker took it, beside the row.
    epoch: int | None = None

    class Meta:
        verbose_name = _("job run")
        verbose_name_plural = _("job runs")
        ordering = ("-pk",)
        constraints = [
            # Two schedulers that fire the same slot make one run.
            # Also the index for "runs of a definition", with its newest slots.
            models.UniqueConstraint(
                fields=["definition", "scheduled_for"], name="jobs_run_slot_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=State.values), name="jobs_run_state_known"
            ),
            models.CheckConstraint(condition=Q(lane__in=Lane.values), name="jobs_run_lane_known"),
            # One who has it in hand is named, and only for so long; otherwise it is nobody's.
            models.CheckConstraint(
                condition=(
                    Q(state__in=HELD, lease_until__isnull=False, assigned_at__isnull=False)
                    & ~Q(assigned_worker="")
                )
                | (~Q(state__in=HELD) & Q(lease_until__isnull=True)),
                name="jobs_run_held_under_lease",
            ),
            # Begun means: at a known time, in a known reign. What ended without beginning was
            # cancelled.
            models.CheckConstraint(
                condition=Q(
                    state__in=[State.PENDING, State.ASSIGNED, State.ORPHANED],
                    started_at__isnull=True,
                    leader_epoch__isnull=True,
                )
                | Q(state=State.CANCELED)
                | Q(
                    state__in=[State.RUNNING, State.SUCCEEDED, *UNSUCCESSFUL],
                    started_at__isnull=False,
                    leader_epoch__isnull=False,
                ),
                name="jobs_run_begun_in_an_epoch",
            ),
            models.CheckConstraint(
                condition=Q(state__in=TERMINAL, finished_at__isnull=False)
                | (~Q(state__in=TERMINAL) & Q(finished_at__isnull=True)),
                name="jobs_run_finished_when_ended",
            ),
            models.CheckConstraint(
                condition=Q(
                    continuation_state=Continuation.NONE, continuation_deadline__isnull=True
                )
                | Q(
                    continuation_state=Continuation.CONFIRMING,
                    continuation_deadline__isnull=False,
                    state=State.RUNNING,
                ),
                name="jobs_run_confirming_has_deadline",
            ),
            # A later attempt is found through the first: slot and key stay with that one.
            models.CheckConstraint(
                condition=Q(retry_of__isnull=True)
                | Q(scheduled_for__isnull=True, idempotency_key__isnull=True),
                name="jobs_run_retry_has_no_slot",
            ),
            models.CheckConstraint(
                condition=Q(attempt__gte=1, timeout_seconds__gte=1, version__gte=1),
                name="jobs_run_counts_positive",
            ),
            models.CheckConstraint(
                condition=Q(progress_total=0) | Q(progress_current__lte=F("progress_total")),
                name="jobs_run_progress_within_total",
            ),
        ]
        indexes = [
            # The sweep: "what waits and is due, and was not sent yet, or sent long ago". (Only runs
            # made by the clock have `scheduled_for`; the time to look for is one that every run
            # has.) Also "what is held", which is never more than there are workers: its leases
            # need no index, and a renewal changes none.
            models.Index(fields=["state", "rung_at", "due_at"], name="jobs_run_due"),
            # A definition that is due: "is an earlier run of it still active".
            models.Index(
                fields=["definition", "state"],
                name="jobs_run_definition",
                condition=Q(definition__isnull=False),
            ),
            # A worker's page: "what does this worker have in hand".
            models.Index(fields=["assigned_worker", "state"], name="jobs_run_worker"),
            # The list of projects: "how much work of this scope is active".
            models.Index(fields=["scope", "state"], name="jobs_run_scope"),
            # The operations page: "failures of the last day".
            models.Index(fields=["state", "finished_at"], name="jobs_run_ended"),
            # Lists and retention: "the newest", "the ones older than".
            models.Index(fields=["created_at"], name="jobs_run_created"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"

    @property
    def ended(self) -> bool:
        return self.state in TERMINAL

    @property
    def attempts_remain(self) -> bool:
        return self.attempt < self.max_attempts


class JobLog(models.Model):
    """A line of a run's log. A table of its own: the rows that are fought over stay small."""

    class Level(models.TextChoices):
        DEBUG = "debug", _("Debug")
        INFO = "info", _("Info")
        WARNING = "warning", _("Warning")
        ERROR = "error", _("Error")

    run = models.ForeignKey(
        JobRun, on_delete=models.CASCADE, related_name="logs", verbose_name=_("run")
    )
    time = models.DateTimeField(_("time"), default=timezone.now)
    level = models.CharField(_("level"), max_length=10, choices=Level, default=Level.INFO)
    message = models.TextField(_("message"))

    class Meta:
        verbose_name = _("log line")
        verbose_name_plural = _("log lines")
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.message[:80]


class Worker(models.Model):
    """A process that does work, or (the keeper) looks after those that do."""

    name = models.CharField(_("name"), max_length=NAME_LENGTH, unique=True)
    # The `manage.py worker` it belongs to; draining is for all of them together.
    node = models.CharField(_("node"), max_length=NAME_LENGTH)
    role = models.CharField(_("role"), max_length=10, choices=WorkerRole)
    host = models.CharField(_("host"), max_length=NAME_LENGTH)
    pid = models.PositiveIntegerField(_("process"))
    # With the number, it tells a process from a later one that was given the same number.
    process_started = models.PositiveBigIntegerField(_("process start"), default=0)
    started_at = models.DateTimeField(_("started"), default=timezone.now)
    heartbeat_at = models.DateTimeField(_("heartbeat"), default=timezone.now)
    stopped_at = models.DateTimeField(_("stopped"), null=True, blank=True)
    draining = models.BooleanField(_("draining"), default=False)
    jobs_done = models.PositiveIntegerField(_("jobs done"), default=0)

    objects = WorkerQuerySet.as_manager()

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")
        ordering = ("node", "role", "name")
        indexes = [
            # The operations page and the sweep: "the workers that have not stopped".
            models.Index(fields=["stopped_at", "heartbeat_at"], name="jobs_worker_alive"),
            # "The processes of this node": draining, and finding its dead.
            models.Index(fields=["node", "role"], name="jobs_worker_node"),
        ]

    def __str__(self) -> str:
        return self.name


class LeaderLease(models.Model):
    """The one row that says who sweeps. Taking it over raises the epoch."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    holder = models.CharField(_("holder"), max_length=NAME_LENGTH, blank=True)
    epoch = models.PositiveIntegerField(_("epoch"), default=0)
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    acquired_at = models.DateTimeField(_("since"), null=True, blank=True)

    class Meta:
        verbose_name = _("leader")
        verbose_name_plural = _("leader")
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="jobs_leader_only_one"),
        ]

    def __str__(self) -> str:
        return f"{self.holder} ({self.epoch})"


class TriggerEvent(models.Model):
    """Something that happened elsewhere and may start work here. The same one counts once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    type = models.CharField(_("type"), max_length=NAME_LENGTH)
    payload = models.JSONField(_("payload"), default=dict)
    dedupe_key = models.CharField(_("dedupe key"), max_length=200, unique=True)
    created_by = models.CharField(_("sent by"), max_length=150, blank=True)
    created_at = models.DateTimeField(_("received"), default=timezone.now)
    processed_at = models.DateTimeField(_("processed"), null=True, blank=True)
    runs = models.ManyToManyField(
        JobRun, related_name="events", blank=True, verbose_name=_("runs it started")
    )

    objects = TriggerEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("incoming event")
        verbose_name_plural = _("incoming events")
        ordering = ("-created_at",)
        indexes = [
            # The sweep: "events not processed yet, oldest first".
            models.Index(fields=["processed_at", "created_at"], name="jobs_event_unprocessed"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.dedupe_key}"


class AuditEntry(models.Model):
    """Who did what to which row. Written in the same transaction as the deed."""

    time = models.DateTimeField(_("time"), default=timezone.now)
    # A name, not a key: it says who it was even after the account is gone.
    actor = models.CharField(_("who"), max_length=150)
    action = models.CharField(_("action"), max_length=64)
    target_type = models.CharField(_("what"), max_length=64)
    target_id = models.CharField(_("which"), max_length=64)
    before = models.JSONField(_("before"), default=dict)
    after = models.JSONField(_("after"), default=dict)
    trace_id = models.CharField(_("trace"), max_length=64, blank=True)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering = ("-pk",)
        indexes = [
            # "What was done to this row."
            models.Index(fields=["target_type", "target_id"], name="jobs_audit_target"),
            # "What was done lately", and retention.
            models.Index(fields=["time"], name="jobs_audit_time"),
        ]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action} {self.target_type} {self.target_id}"
