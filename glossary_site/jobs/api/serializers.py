"""What goes in and what comes out about background work, field by field."""

from typing import Any

from rest_framework import serializers

from glossary_site.api.fields import Text
from glossary_site.api.views import BIGGEST_ID
from glossary_site.jobs.choices import Lane, WorkerRole
from glossary_site.jobs.logs import PAGE
from glossary_site.jobs.models import JobDefinition, JobLog, JobRun, TriggerEvent, Worker
from glossary_site.jobs.reasons import Level

REASON_LENGTH = 200

# Runs


class JobSerializer(serializers.ModelSerializer[JobRun]):
    """A job as lists show it."""

    worker = serializers.CharField(
        source="assigned_worker", read_only=True, help_text="Who has it in hand, or had it last."
    )
    due = serializers.DateTimeField(source="due_at", read_only=True)
    created = serializers.DateTimeField(source="created_at", read_only=True)
    started = serializers.DateTimeField(source="started_at", read_only=True, allow_null=True)
    finished = serializers.DateTimeField(source="finished_at", read_only=True, allow_null=True)

    class Meta:
        model = JobRun
        fields: tuple[str, ...] = (
            "id",
            "kind",
            "lane",
            "scope",
            "state",
            "attempt",
            "max_attempts",
            "retry_of",
            "definition",
            "scheduled_for",
            "due",
            "created",
            "started",
            "finished",
            "progress_current",
            "progress_total",
            "progress_message",
            "progress_at",
            "worker",
            "error",
        )
        read_only_fields = fields


class ReasonSerializer(serializers.Serializer[Any]):
    """Why work does not go on."""

    code = serializers.CharField(help_text="For programs, such as `no_worker` or `starved`.")
    level = serializers.ChoiceField(choices=[level.value for level in Level])
    sentence = serializers.CharField()
    run_id = serializers.IntegerField(allow_null=True, help_text="The job it is about, if one.")
    node = serializers.CharField(allow_blank=True)


class JobDetailSerializer(JobSerializer):
    """One job with all its facts."""

    payload = serializers.JSONField(read_only=True)
    result = serializers.JSONField(read_only=True, allow_null=True)
    next_attempt = serializers.SerializerMethodField(
        help_text="The job that tries the same again; null when there is none."
    )
    reason = ReasonSerializer(
        read_only=True, allow_null=True, help_text="Why it does not run, where it should."
    )

    class Meta(JobSerializer.Meta):
        fields = (
            *JobSerializer.Meta.fields,
            "payload",
            "result",
            "next_attempt",
            "reason",
            "version",
            "leader_epoch",
            "lease_until",
            "continuation_state",
            "continuation_deadline",
            "timeout_seconds",
            "idempotency_key",
            "trace_id",
            "log_ref",
        )
        read_only_fields = fields

    def get_next_attempt(self, run: JobRun) -> int | None:
        following = getattr(run, "next_attempt", None)
        return following.pk if following else None


class CancelSerializer(serializers.Serializer[Any]):
    reason = Text(
        max_length=REASON_LENGTH, allow_blank=True, required=False, help_text="Why, for its page."
    )


class LogQuerySerializer(serializers.Serializer[Any]):
    after = serializers.IntegerField(
        min_value=0,
        max_value=BIGGEST_ID,
        default=0,
        help_text="The `id` of the last line you have.",
    )
    limit = serializers.IntegerField(
        min_value=1, default=PAGE, help_text=f"At most {PAGE}, however many you ask for."
    )


class LogLineSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    time = serializers.DateTimeField()
    level = serializers.ChoiceField(choices=JobLog.Level.choices)
    message = serializers.CharField()


class LogSerializer(serializers.Serializer[Any]):
    lines = LogLineSerializer(many=True)
    last = serializers.IntegerField(help_text="Ask for what comes `after` this.")


# Workers


class WorkerSerializer(serializers.ModelSerializer[Worker]):
    """A process that works, or (the keeper) looks after those that do."""

    started = serializers.DateTimeField(source="started_at", read_only=True)
    heartbeat = serializers.DateTimeField(source="heartbeat_at", read_only=True)

    class Meta:
        model = Worker
        fields: tuple[str, ...] = (
            "name",
            "node",
            "role",
            "host",
            "pid",
            "started",
            "heartbeat",
            "draining",
            "jobs_done",
        )
        read_only_fields = fields


class NodeSerializer(serializers.Serializer[Any]):
    """What became of the processes of one `manage.py worker`."""

    node = serializers.CharField()
    draining = serializers.BooleanField()
    processes = serializers.IntegerField()


# Definitions


class DefinitionSerializer(serializers.ModelSerializer[JobDefinition]):
    next_run = serializers.DateTimeField(
        source="schedule.next_run",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="When it is due by the clock; null when it is not.",
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)
    changed = serializers.DateTimeField(source="updated_at", read_only=True)

    class Meta:
        model = JobDefinition
        fields = (
            "id",
            "name",
            "kind",
            "payload",
            "cron",
            "event_type",
            "policy",
            "timeout_seconds",
            "retries",
            "enabled",
            "next_run",
            "version",
            "created",
            "changed",
        )
        read_only_fields = fields


class DefinitionChangeSerializer(serializers.Serializer[JobDefinition]):
    enabled = serializers.BooleanField(
        help_text="Off: nothing starts by itself any more; what runs goes on."
    )


# Events


class TriggerEventWriteSerializer(serializers.Serializer[TriggerEvent]):
    type = Text(help_text="Definitions name the type that starts them.")
    payload = serializers.DictField(required=False, help_text="Whatever the work needs to know.")
    dedupe_key = Text(help_text="The same key is the same event, however often it is sent.")


class TriggerEventSerializer(serializers.ModelSerializer[TriggerEvent]):
    received = serializers.DateTimeField(source="created_at", read_only=True)
    processed = serializers.DateTimeField(source="processed_at", read_only=True, allow_null=True)
    runs = serializers.SerializerMethodField(help_text="The jobs it started.")

    class Meta:
        model = TriggerEvent
        fields = ("id", "type", "payload", "dedupe_key", "received", "processed", "runs")
        read_only_fields = fields

    def get_runs(self, event: TriggerEvent) -> list[int]:
        return list(event.runs.order_by("pk").values_list("pk", flat=True))


# The overview


class LeaderSerializer(serializers.Serializer[Any]):
    """Who sweeps: sends retries and lost deliveries, and finds what was left alone."""

    leads = serializers.BooleanField(help_text="Whether there is one now.")
    holder = serializers.CharField(allow_blank=True)
    epoch = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True)
    lease_until = serializers.DateTimeField(allow_null=True)


class DepthSerializer(serializers.Serializer[Any]):
    """What waits of one kind."""

    kind = serializers.CharField()
    lane = serializers.ChoiceField(choices=Lane.choices)
    waiting = serializers.IntegerField(source="due", help_text="Could begin now.")
    oldest = serializers.DateTimeField(allow_null=True)
    later = serializers.IntegerField(help_text="Waits for its time: retries and parked work.")
    next_due = serializers.DateTimeField(allow_null=True)
    known = serializers.BooleanField(source="is_known")


class LaneSerializer(serializers.Serializer[Any]):
    lane = serializers.ChoiceField(choices=Lane.choices)
    waiting = serializers.IntegerField(source="due")
    oldest = serializers.DateTimeField(allow_null=True)
    later = serializers.IntegerField()
    next_due = serializers.DateTimeField(allow_null=True)
    workers = serializers.IntegerField(help_text="Those that take work of this lane now.")
    busy = serializers.IntegerField()


class InHandSerializer(serializers.Serializer[Any]):
    """A job that a worker has in hand."""

    job = JobSerializer(source="run")
    stuck = serializers.BooleanField(source="is_stuck", help_text="Its worker is not heard of.")
    heard = serializers.DateTimeField(source="heard_at", help_text="When its worker last was.")
    confirm_until = serializers.DateTimeField(
        allow_null=True, help_text="Until then its worker is asked for, before it is given up."
    )


class FailedKindSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    count = serializers.IntegerField()


class SlotSerializer(serializers.Serializer[Any]):
    definition = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    at = serializers.DateTimeField(source="schedule.next_run")


class WorkerLoadSerializer(serializers.Serializer[Any]):
    """A process, and the jobs it has in hand."""

    name = serializers.CharField(source="worker.name")
    role = serializers.ChoiceField(choices=WorkerRole.choices, source="worker.role")
    pid = serializers.IntegerField(source="worker.pid")
    started = serializers.DateTimeField(source="worker.started_at")
    heartbeat = serializers.DateTimeField(source="worker.heartbeat_at")
    silent = serializers.BooleanField(source="is_silent", help_text="Not heard of for a while.")
    jobs_done = serializers.IntegerField(source="worker.jobs_done")
    jobs = serializers.ListField(child=serializers.IntegerField(), source="run_ids")


class NodeLoadSerializer(serializers.Serializer[Any]):
    """The processes of one `manage.py worker`."""

    node = serializers.CharField(source="name")
    host = serializers.CharField()
    draining = serializers.BooleanField()
    workers = WorkerLoadSerializer(many=True)


class OverviewSerializer(serializers.Serializer[Any]):
    """How background work is doing."""

    time = serializers.DateTimeField(source="view.now")
    reasons = ReasonSerializer(many=True, help_text="Why work does not go on; the worst first.")
    leader = LeaderSerializer(source="view.leader")
    nodes = NodeLoadSerializer(source="view.nodes", many=True)
    lanes = LaneSerializer(source="view.lanes", many=True)
    queue = DepthSerializer(source="view.queue", many=True)
    in_hand = InHandSerializer(source="view.in_hand", many=True)
    failures = serializers.IntegerField(
        source="view.failures", help_text="Of the last day, like the two that follow."
    )
    failed_kinds = FailedKindSerializer(source="view.failed", many=True)
    newest_failures = JobSerializer(source="view.newest_failures", many=True)
    next_slots = SlotSerializer(source="view.next_slots", many=True)
