"""For operators: what is there, what is stuck and why, and the few things to be done about it."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from glossary_site.admin import ReadOnlyAdmin
from glossary_site.errors import Refusal
from glossary_site.jobs.access import may_operate
from glossary_site.jobs.forms import DefinitionForm
from glossary_site.jobs.logs import log_lines
from glossary_site.jobs.models import (
    AuditEntry,
    JobDefinition,
    JobLog,
    JobRun,
    LeaderLease,
    TriggerEvent,
    Worker,
)
from glossary_site.jobs.querysets import JobRunQuerySet
from glossary_site.jobs.services import definitions, runs, workers
from glossary_site.jobs.views.log import tail_of

ERROR_LENGTH = 120


class ForOperators:
    """Actions are for those who may operate; each is a service, called for one row at a time."""

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return may_operate(request.user)

    def for_each(
        self, request: HttpRequest, rows: Iterable[Any], deed: Callable[[Any], object]
    ) -> None:
        done = 0
        for row in rows:
            try:
                deed(row)
                done += 1
            except Refusal as refusal:
                messages.error(request, str(refusal))
        if done:
            sentence = ngettext("Done for %(count)d row.", "Done for %(count)d rows.", done)
            messages.success(request, sentence % {"count": done})


class ConditionFilter(admin.SimpleListFilter):
    title = gettext_lazy("condition")
    parameter_name = "condition"

    CONDITIONS: dict[str, tuple[Any, Callable[[JobRunQuerySet], JobRunQuerySet]]] = {
        "stuck": (
            gettext_lazy("Stuck: no heartbeat"),
            lambda rows: rows.stuck(timezone.now()),
        ),
        "starved": (
            gettext_lazy("Starved: waiting for a worker for over a minute"),
            lambda rows: rows.due(timezone.now() - timedelta(minutes=1)),
        ),
        "failed": (
            gettext_lazy("Failed in the last day"),
            lambda rows: rows.failed_lately(),
        ),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, title) for name, (title, _narrow) in self.CONDITIONS.items()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        return self.CONDITIONS[chosen][1](queryset) if chosen in self.CONDITIONS else queryset


@admin.register(JobRun)
class JobRunAdmin(ForOperators, ReadOnlyAdmin):
    list_display = (
        "id",
        "kind",
        "state",
        "lane",
        "scope",
        "attempt",
        "due_at",
        "assigned_worker",
        "progress_at",
        "finished_at",
        "short_error",
    )
    list_filter = (ConditionFilter, "state", "lane", "kind", "created_at")
    search_fields = ("=id", "idempotency_key", "scope", "error", "assigned_worker", "=trace_id")
    actions = ("cancel", "retry_now")
    readonly_fields = ("page", "next_attempt_link", "log")

    def get_queryset(self, request: HttpRequest) -> QuerySet[JobRun]:
        return super().get_queryset(request).defer("payload", "result")

    @admin.display(description=gettext_lazy("error"))
    def short_error(self, run: JobRun) -> str:
        return run.error[:ERROR_LENGTH]

    @admin.display(description=gettext_lazy("page"))
    def page(self, run: JobRun) -> SafeString:
        return _link("job", run.pk, _("open"))

    @admin.display(description=gettext_lazy("next attempt"))
    def next_attempt_link(self, run: JobRun) -> SafeString | str:
        following = JobRun.objects.filter(retry_of=run).first()
        return _link("admin:jobs_jobrun_change", following.pk, following) if following else "–"

    @admin.display(description=gettext_lazy("log"))
    def log(self, run: JobRun) -> SafeString | str:
        """The end of it, wherever it is kept."""
        lines = log_lines(run, after=tail_of(run))
        if not lines:
            return "–"
        rows = (
            (timezone.localtime(line.time).strftime("%Y-%m-%d %H:%M:%S"), line.level, line.message)
            for line in lines
        )
        return format_html("<pre>{}</pre>", format_html_join("\n", "{}  {:<7}  {}", rows))

    @admin.action(description=pgettext_lazy("work", "Cancel"), permissions=["operate"])
    def cancel(self, request: HttpRequest, rows: QuerySet[JobRun]) -> None:
        self.for_each(request, rows, lambda run: runs.cancel_run(run, actor=request.user))

    @admin.action(description=gettext_lazy("Try again now"), permissions=["operate"])
    def retry_now(self, request: HttpRequest, rows: QuerySet[JobRun]) -> None:
        self.for_each(request, rows, lambda run: runs.retry_run(run, actor=request.user))


@admin.register(JobDefinition)
class JobDefinitionAdmin(ForOperators, admin.ModelAdmin):
    """Rows that operators write, through the services."""

    form = DefinitionForm
    list_display = ("name", "kind", "cron", "event_type", "policy", "enabled", "next_run")
    list_filter = ("enabled", "policy", "kind")
    list_select_related = ("schedule",)
    search_fields = ("name", "kind", "event_type")
    fields = (*definitions.FIELDS, "version", "enabled_at", "next_run", "created_at", "updated_at")
    readonly_fields = ("enabled_at", "next_run", "created_at", "updated_at")
    actions = ("enable", "disable", "run_now")

    @admin.display(description=gettext_lazy("next run"), ordering="schedule__next_run")
    def next_run(self, definition: JobDefinition) -> Any:
        return definition.schedule.next_run if definition.schedule else None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_operate(request.user)

    def has_change_permission(self, request: HttpRequest, obj: JobDefinition | None = None) -> bool:
        return may_operate(request.user)

    def has_delete_permission(self, request: HttpRequest, obj: JobDefinition | None = None) -> bool:
        return may_operate(request.user)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        # It would tell of a success before it was one. They are removed one by one.
        actions.pop("delete_selected", None)
        return actions

    def save_model(
        self, request: HttpRequest, obj: JobDefinition, form: ModelForm, change: bool
    ) -> None:
        assert isinstance(form, DefinitionForm)
        if change:
            definitions.update_definition(
                obj,
                actor=request.user,
                version=form.cleaned_data["version"],
                **form.values(),
            )
        else:
            obj.pk = definitions.create_definition(actor=request.user, **form.values()).pk

    def delete_model(self, request: HttpRequest, obj: JobDefinition) -> None:
        definitions.delete_definition(obj, actor=request.user)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_why_not(request, super().changeform_view, *args, **kwargs)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_why_not(request, super().delete_view, *args, **kwargs)

    def _or_why_not(
        self, request: HttpRequest, view: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Refusal as refusal:
            # Whatever was begun is undone; the page shows how it is now.
            messages.error(request, str(refusal))
            return redirect(request.get_full_path())

    @admin.action(description=gettext_lazy("Switch on"), permissions=["operate"])
    def enable(self, request: HttpRequest, rows: QuerySet[JobDefinition]) -> None:
        self.for_each(request, rows, lambda row: definitions.enable(row, actor=request.user))

    @admin.action(description=gettext_lazy("Switch off"), permissions=["operate"])
    def disable(self, request: HttpRequest, rows: QuerySet[JobDefinition]) -> None:
        self.for_each(request, rows, lambda row: definitions.disable(row, actor=request.user))

    @admin.action(description=gettext_lazy("Run now"), permissions=["operate"])
    def run_now(self, request: HttpRequest, rows: QuerySet[JobDefinition]) -> None:
        self.for_each(request, rows, lambda row: definitions.run_now(row, actor=request.user))


class PresentFilter(admin.SimpleListFilter):
    title = gettext_lazy("presence")
    parameter_name = "present"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("Present")), ("no", _("Stopped or dead"))]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        if self.value() in ("yes", "no"):
            return queryset.filter(stopped_at__isnull=self.value() == "yes")
        return queryset


@admin.register(Worker)
class WorkerAdmin(ForOperators, ReadOnlyAdmin):
    list_display = (
        "name",
        "role",
        "host",
        "pid",
        "heartbeat_at",
        "jobs_done",
        "draining",
        "stopped_at",
    )
    list_filter = (PresentFilter, "role", "draining", "node")
    search_fields = ("name", "node", "host")
    ordering = ("-heartbeat_at",)
    actions = ("drain", "put_back")

    @admin.action(description=gettext_lazy("Drain the node"), permissions=["operate"])
    def drain(self, request: HttpRequest, rows: QuerySet[Worker]) -> None:
        self._set(request, rows, draining=True)

    @admin.action(description=gettext_lazy("Put the node back to work"), permissions=["operate"])
    def put_back(self, request: HttpRequest, rows: QuerySet[Worker]) -> None:
        self._set(request, rows, draining=False)

    def _set(self, request: HttpRequest, rows: QuerySet[Worker], *, draining: bool) -> None:
        nodes = rows.order_by("node").values_list("node", flat=True).distinct()
        self.for_each(
            request,
            nodes,
            lambda node: workers.drain_node(node, actor=request.user, draining=draining),
        )


@admin.register(LeaderLease)
class LeaderLeaseAdmin(ReadOnlyAdmin):
    list_display = ("holder", "epoch", "acquired_at", "lease_until")


@admin.register(TriggerEvent)
class TriggerEventAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "type", "dedupe_key", "created_by", "processed_at")
    list_filter = (("processed_at", admin.EmptyFieldListFilter), "type", "created_at")
    search_fields = ("type", "dedupe_key", "created_by")


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("time", "actor", "action", "target_type", "target_id", "before", "after")
    list_filter = ("action", "target_type", "time")
    search_fields = ("actor", "=target_id", "=trace_id")


@admin.register(JobLog)
class JobLogAdmin(ReadOnlyAdmin):
    list_display = ("time", "run", "level", "message")
    list_filter = ("level", "time")
    list_select_related = ("run",)
    search_fields = ("=run__id", "message")
    ordering = ("-pk",)


def _link(view: str, key: object, text: object) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse(view, args=[key]), text)
