"""Bulk collections: which go on, which are stuck or failed and why; and starting one."""

from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_POST

from collection.access import may_collect_all
from collection.admin.base import (
    ERROR_LENGTH,
    TRIGGERED_BY,
    ForCollectors,
    OfRepository,
    rows_link,
    start_collection,
)
from collection.choices import ResultStatus, RunStatus
from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.services.ending import cancel
from collection.services.starting import resume, retry_failed
from glossary_site.admin import ReadOnlyAdmin
from glossary_site.durations import in_words
from glossary_site.jobs.choices import ACTIVE as JOB_ACTIVE
from glossary_site.jobs.models import JobRun
from indexing.admin import Choice

# A batch of commits takes seconds, and a fetch says so: for longer nothing should be still.
PATIENCE = timedelta(minutes=10)


def stuck(rows: Any) -> Any:
    """It says that it is running, but nobody works on it, or nothing came of it for a while.
    One whose targets all wait for another try is called for when their time has come."""
    worked_on = JobRun.objects.filter(pk=OuterRef("job_id"), state__in=JOB_ACTIVE)
    waiting = BulkCollectionResult.objects.filter(
        run=OuterRef("pk"), next_retry_at__gt=timezone.now()
    )
    long_ago = timezone.now() - PATIENCE
    return rows.filter(~Exists(waiting), status=RunStatus.RUNNING).filter(
        ~Exists(worked_on)
        | Q(progress_at__lt=long_ago)
        | Q(progress_at__isnull=True, started_at__lt=long_ago)
    )


class RunCondition(Choice):
    title = gettext_lazy("condition")
    parameter_name = "condition"

    choices_of = {
        "stuck": (
            gettext_lazy("Stuck: nobody works on it, or no progress for ten minutes"),
            stuck,
        ),
        "failures": (gettext_lazy("With failures"), lambda rows: rows.filter(failed_count__gt=0)),
        "left": (
            gettext_lazy("Stopped, with something left"),
            lambda rows: rows.filter(
                status=RunStatus.CANCELLED,
                total_targets__gt=F("completed_count") + F("failed_count"),
            ),
        ),
        "all": (gettext_lazy("Of all projects"), lambda rows: rows.filter(project__isnull=True)),
    }


@admin.register(BulkCollectionRun)
class BulkCollectionRunAdmin(ForCollectors, ReadOnlyAdmin):
    change_list_template = "admin/collection/bulkcollectionrun/change_list.html"
    list_display = (
        "run_id",
        "project",
        "status",
        "progress",
        "failed_count",
        "new_commits",
        "duration",
        "progress_at",
        "triggered_by",
        "actor",
        "started_at",
    )
    list_filter = (RunCondition, "status", "triggered_by", "started_at", "project")
    list_select_related = ("project", "actor")
    search_fields = ("=run_id", "project__name", "actor__username")
    actions = ("cancel", "retry_failed", "resume")
    readonly_fields = ("page", "results_links", "reasons", "job_link")
    raw_id_fields = ("continues",)
    exclude = ("job", "mark")

    @admin.display(description=gettext_lazy("progress"))
    def progress(self, run: BulkCollectionRun) -> str:
        return f"{run.done_count}/{run.total_targets}"

    @admin.display(description=gettext_lazy("duration"))
    def duration(self, run: BulkCollectionRun) -> str:
        return in_words((run.completed_at or timezone.now()) - run.started_at)

    @admin.display(description=gettext_lazy("page"))
    def page(self, run: BulkCollectionRun) -> SafeString | str:
        if run.project_id is None:
            return "–"
        return format_html('<a href="{}">{}</a>', run.get_absolute_url(), _("open"))

    @admin.display(description=gettext_lazy("collection results"))
    def results_links(self, run: BulkCollectionRun) -> SafeString:
        counts = dict(
            run.results.order_by()
            .values_list("status")
            .annotate(n=Count("pk"))
            .values_list("status", "n")
        )
        parts = (
            (
                rows_link(
                    BulkCollectionResult,
                    f"{status.label}: {counts.get(status, 0)}",
                    run__run_id__exact=run.pk,
                    status__exact=status.value,
                ),
            )
            for status in ResultStatus
        )
        return format_html_join(" · ", "{}", parts)

    @admin.display(description=gettext_lazy("reasons of failures"))
    def reasons(self, run: BulkCollectionRun) -> SafeString | str:
        """The most frequent ones: a host that is down fails many targets with one sentence."""
        failed = run.results.failed().order_by().values("error_message")
        found = failed.annotate(n=Count("pk")).order_by("-n", "error_message")[:10]
        lines = ((row["n"], row["error_message"]) for row in found)
        return format_html_join("", "<div>{} × {}</div>", lines) or "–"

    @admin.display(description=gettext_lazy("job"))
    def job_link(self, run: BulkCollectionRun) -> SafeString | str:
        if run.job_id is None:
            return "–"
        url = reverse("admin:jobs_jobrun_change", args=[run.job_id])
        return format_html('<a href="{}">{}</a>', url, run.job)

    @admin.action(description=pgettext_lazy("work", "Cancel"), permissions=["collect"])
    def cancel(self, request: HttpRequest, rows: QuerySet[BulkCollectionRun]) -> None:
        self.for_each(request, rows, lambda run: cancel(run, actor=request.user))

    @admin.action(description=gettext_lazy("Retry what failed"), permissions=["collect"])
    def retry_failed(self, request: HttpRequest, rows: QuerySet[BulkCollectionRun]) -> None:
        self.for_each(
            request,
            rows,
            lambda run: retry_failed(run, actor=request.user, triggered_by=TRIGGERED_BY),
        )

    @admin.action(description=gettext_lazy("Collect what was left"), permissions=["collect"])
    def resume(self, request: HttpRequest, rows: QuerySet[BulkCollectionRun]) -> None:
        self.for_each(
            request,
            rows,
            lambda run: resume(run, actor=request.user, triggered_by=TRIGGERED_BY),
        )

    def get_urls(self) -> list[URLPattern]:
        begin = path(
            "start/",
            self.admin_site.admin_view(require_POST(self.start_all)),
            name="collection_bulkcollectionrun_start",
        )
        return [begin, *super().get_urls()]

    def start_all(self, request: HttpRequest) -> HttpResponse:
        if may_collect_all(request.user):
            start_collection(request)
        else:
            messages.error(request, _("Only operators collect for all projects."))
        return redirect("admin:collection_bulkcollectionrun_changelist")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        context = {"may_collect": may_collect_all(request.user), **(extra_context or {})}
        return super().changelist_view(request, context)


class ResultCondition(Choice):
    title = gettext_lazy("condition")
    parameter_name = "condition"
    choices_of = {
        "in_hand": (
            gettext_lazy("In hand"),
            lambda rows: rows.pending().filter(in_hand_since__isnull=False),
        ),
        "waiting": (
            gettext_lazy("Waits for another try"),
            lambda rows: rows.pending().filter(next_retry_at__isnull=False),
        ),
        "lately": (
            gettext_lazy("Failed in the last day"),
            lambda rows: rows.failed().filter(processed_at__gte=timezone.now() - timedelta(days=1)),
        ),
        "noted": (gettext_lazy("With a note"), lambda rows: rows.exclude(note="")),
    }


@admin.register(BulkCollectionResult)
class BulkCollectionResultAdmin(OfRepository):
    list_display = (
        "run",
        "repository",
        "branch_name",
        "status",
        "new_commits_count",
        "attempts",
        "next_retry_at",
        "processed_at",
        "short_error",
    )
    list_filter = (ResultCondition, "status", "processed_at")
    list_select_related = ("run", "repository")
    raw_id_fields = ("run", "repository")
    search_fields = ("=run__run_id", "repository__name", "branch_name", "error_message", "note")
    ordering = ("-pk",)

    @admin.display(description=gettext_lazy("error"))
    def short_error(self, row: BulkCollectionResult) -> str:
        return (row.error_message or row.last_error or row.note)[:ERROR_LENGTH]
