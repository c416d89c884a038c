"""For operators: processes with what is stuck and why; the requests and batches behind them."""

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from glossary_site.admin import ReadOnlyAdmin
from glossary_site.jobs.admin import ForOperators
from glossary_site.llm.choices import ACTIVE
from glossary_site.llm.models import LLMJob, LLMProcess, ProviderBatch
from glossary_site.llm.services import processes

ERROR_LENGTH = 120


class ConditionFilter(admin.SimpleListFilter):
    title = _("condition")
    parameter_name = "condition"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, Any]]:
        return [
            ("active", _("Going on")),
            ("failures", _("With failed requests")),
            ("unclaimed", _("Ended, answers not taken")),
        ]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[LLMProcess]
    ) -> QuerySet[LLMProcess]:
        if self.value() == "active":
            return queryset.filter(status__in=ACTIVE)
        if self.value() == "failures":
            return queryset.filter(failed__gt=0)
        if self.value() == "unclaimed":
            return queryset.filter(finished_at__isnull=False, consumed_at__isnull=True, total__gt=0)
        return queryset


class BatchInline(admin.TabularInline):
    model = ProviderBatch
    extra = 0
    can_delete = False
    fields = readonly_fields = (
        "number",
        "state",
        "batch_id",
        "provider_status",
        "requests",
        "completed",
        "failed",
        "polls",
    )

    def has_add_permission(self, request: HttpRequest, obj: LLMProcess | None = None) -> bool:
        return False


@admin.register(LLMProcess)
class LLMProcessAdmin(ForOperators, ReadOnlyAdmin):
    list_display = (
        "id",
        "scope",
        "status",
        "strategy",
        "model",
        "put",
        "completed",
        "failed",
        "served",
        "cost",
        "progress_at",
        "short_error",
    )
    list_filter = (ConditionFilter, "status", "strategy", "provider_kind", "notice", "created_at")
    search_fields = ("=id", "scope", "model", "error")
    inlines = (BatchInline,)
    actions = ("cancel", "retry_failed")

    @admin.display(description=_("error"))
    def short_error(self, process: LLMProcess) -> str:
        return process.error[:ERROR_LENGTH]

    @admin.display(description=_("requests"), ordering="total")
    def put(self, process: LLMProcess) -> object:
        if process.growing:
            return gettext("%(n)s so far") % {"n": process.total}
        return process.total

    @admin.display(description=_("cost"), ordering=F("cost_nano"))
    def cost(self, process: LLMProcess) -> object:
        return process.cost

    @admin.action(description=pgettext_lazy("work", "Cancel"), permissions=["operate"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[LLMProcess]) -> None:
        self.for_each(request, queryset, lambda row: processes.cancel(row.pk, actor=request.user))

    @admin.action(description=_("Retry the failed requests"), permissions=["operate"])
    def retry_failed(self, request: HttpRequest, queryset: QuerySet[LLMProcess]) -> None:
        self.for_each(request, queryset, lambda row: processes.retry(row.pk, actor=request.user))


@admin.register(LLMJob)
class LLMJobAdmin(ReadOnlyAdmin):
    list_display = ("id", "process_id", "status", "batch_job_id", "short_error", "updated_at")
    list_filter = ("status", "created_at")
    search_fields = ("=id", "=process_id", "=batch_job_id", "error_message")

    def get_queryset(self, request: HttpRequest) -> QuerySet[LLMJob]:
        return super().get_queryset(request).defer("request_json", "response_json")

    @admin.display(description=_("error"))
    def short_error(self, job: LLMJob) -> str:
        return (job.error_message or "")[:ERROR_LENGTH]


@admin.register(ProviderBatch)
class ProviderBatchAdmin(ReadOnlyAdmin):
    list_display = (
        "batch_id",
        "process",
        "number",
        "state",
        "provider_status",
        "requests",
        "completed",
        "failed",
        "created_at",
    )
    list_filter = ("state", "provider_status", "created_at")
    list_select_related = ("process",)
    search_fields = ("=batch_id", "=process__id", "=file_id")
