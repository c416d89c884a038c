"""For operators: which runs go on, which are stuck or failed and why, and what each has made."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import display_for_value, unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from glossary_site.admin import ReadOnlyAdmin
from glossary_site.durations import in_words
from glossary_site.errors import Refusal
from glossary_site.jobs.admin import ForOperators
from glossary_site.jobs.choices import ACTIVE as JOB_ACTIVE
from glossary_site.jobs.models import JobRun
from glossary_site.llm.models import LLMProcess
from runs.choices import ACTIVE, Status
from runs.log_file import log_text
from runs.models import (
    DocumentTerms,
    ProvisionalEntry,
    RefinedEntry,
    Run,
    RunDocument,
    RunFailure,
    RunIssue,
    RunLog,
    RunStep,
    RunTerm,
)
from runs.querysets import RunQuerySet
from runs.services.ending import cancel
from runs.services.failures import resume
from runs.services.settling import settle_run

ERROR_LENGTH = 120
# A term takes seconds: for longer than this nothing should be still.
PATIENCE = timedelta(minutes=10)
MADE: tuple[Any, ...] = (RunTerm, ProvisionalEntry, RunIssue, RefinedEntry, RunFailure)


def stuck(rows: QuerySet[Run]) -> QuerySet[Run]:
    """They say that they go on, but nobody works on them, or nothing has come of it for a while.
    One that waits for a batch is called for when that has ended: its process tells more."""
    worked_on = JobRun.objects.filter(pk=OuterRef("job_id"), state__in=JOB_ACTIVE)
    batches = LLMProcess.objects.active().exclude(then_kind="")
    waiting = RunStep.objects.filter(
        run=OuterRef("pk"), finished_at__isnull=True, process_id__in=batches.values("pk")
    )
    long_ago = timezone.now() - PATIENCE
    return rows.filter(~Exists(waiting), status__in=ACTIVE).filter(
        ~Exists(worked_on)
        | Q(progress_at__lt=long_ago)
        | Q(progress_at__isnull=True, created_at__lt=long_ago)
    )


class ConditionFilter(admin.SimpleListFilter):
    title = _("condition")
    parameter_name = "condition"

    CONDITIONS: dict[str, tuple[Any, Callable[[RunQuerySet], QuerySet[Run]]]] = {
        "active": (_("Going on"), lambda rows: rows.filter(status__in=ACTIVE)),
        "stuck": (_("Stuck: nobody works on it, or no progress for ten minutes"), stuck),
        "failures": (_("With failures"), lambda rows: rows.filter(failure_count__gt=0)),
        "failed": (
            _("Failed in the last day"),
            lambda rows: rows.filter(
                status=Status.FAILED, finished_at__gte=timezone.now() - timedelta(days=1)
            ),
        ),
        "unpublished": (
            _("Completed, and not published"),
            lambda rows: rows.unpublished().filter(status=Status.COMPLETED),
        ),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, title) for name, (title, _narrow) in self.CONDITIONS.items()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        return self.CONDITIONS[chosen][1](queryset) if chosen in self.CONDITIONS else queryset


class StepInline(admin.TabularInline):
    model = RunStep
    extra = 0
    can_delete = False
    fields = readonly_fields = (
        "step",
        "started_at",
        "finished_at",
        "total",
        "done",
        "failed",
        "process_id",
    )

    def has_add_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        return False


@admin.register(Run)
class RunAdmin(ForOperators, ReadOnlyAdmin):
    list_display = (
        "id",
        "project",
        "scope",
        "status",
        "current_step",
        "progress",
        "failure_count",
        "duration",
        "triggered_by",
        "actor",
        "created_at",
        "short_error",
    )
    list_filter = (ConditionFilter, "status", "scope", "triggered_by", "created_at", "project")
    list_select_related = ("project", "actor")
    search_fields = ("=id", "project__name", "actor__username", "error_message", "model")
    actions = ("cancel", "resume")
    inlines = (StepInline,)
    readonly_fields = ("published", "page", "log_link", "job_link", "made")
    raw_id_fields = ("base", "job")
    exclude = ("job", "published_at")

    def get_queryset(self, request: HttpRequest) -> RunQuerySet:
        return Run.objects.with_publication()

    @admin.display(description=_("progress"))
    def progress(self, run: Run) -> str:
        return f"{run.progress_current}/{run.progress_total}" if run.progress_total else "–"

    @admin.display(description=_("duration"))
    def duration(self, run: Run) -> str:
        if run.started_at is None:
            return "–"
        return in_words((run.finished_at or timezone.now()) - run.started_at)

    @admin.display(description=_("error"))
    def short_error(self, run: Run) -> str:
        return run.error_message[:ERROR_LENGTH]

    @admin.display(description=_("published at"))
    def published(self, run: Run) -> str:
        return display_for_value(run.published, "–")

    @admin.display(description=_("page"))
    def page(self, run: Run) -> SafeString:
        return format_html('<a href="{}">{}</a>', run.get_absolute_url(), _("open"))

    @admin.display(description=_("log"))
    def log_link(self, run: Run) -> SafeString:
        """With tracebacks, which no other page has."""
        return format_html(
            '<a href="{}">{}</a> · <a href="{}?run__id__exact={}">{}</a>',
            reverse("admin:runs_run_log", args=[run.pk]),
            _("download"),
            reverse("admin:runs_runlog_changelist"),
            run.pk,
            _("open"),
        )

    @admin.display(description=_("job"))
    def job_link(self, run: Run) -> SafeString | str:
        if run.job_id is None:
            return "–"
        url = reverse("admin:jobs_jobrun_change", args=[run.job_id])
        return format_html('<a href="{}">{}</a>', url, run.job)

    @admin.display(description=_("made"))
    def made(self, run: Run) -> SafeString:
        """What the run has made, each with a link to it. Counted table by table: joined, they are
        as many rows as the product of all of them."""
        parts = [
            format_html(
                '<a href="{}?run__id__exact={}">{}: {}</a>',
                reverse(f"admin:runs_{model._meta.model_name}_changelist"),
                run.pk,
                model._meta.verbose_name_plural,
                model._default_manager.filter(run=run).count(),
            )
            for model in MADE
        ]
        return format_html("{} · {} · {} · {} · {}", *parts)

    @admin.action(description=pgettext_lazy("work", "Cancel"), permissions=["operate"])
    def cancel(self, request: HttpRequest, rows: QuerySet[Run]) -> None:
        self.for_each(request, rows, lambda run: cancel(run, actor=request.user))

    @admin.action(description=_("Resume"), permissions=["operate"])
    def resume(self, request: HttpRequest, rows: QuerySet[Run]) -> None:
        self.for_each(request, rows, lambda run: go_on(run, request))

    def get_urls(self) -> list[URLPattern]:
        log = path(
            "<path:object_id>/log/", self.admin_site.admin_view(self.log), name="runs_run_log"
        )
        return [log, *super().get_urls()]

    def log(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The whole log as a text file."""
        run = self.get_object(request, unquote(object_id))
        if run is None:
            raise Http404
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        response = HttpResponse(log_text(run), content_type="text/plain; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="run-{run.pk}.log"'
        return response


def go_on(run: Run, request: HttpRequest) -> None:
    """One that ended early is followed by a run that does the rest; nothing goes backwards. One
    that says it goes on, and that nobody works on, is taken up again."""
    if not run.is_active:
        resume(run, actor=request.user, triggered_by="admin")
    elif not settle_run(run):
        raise Refusal(
            "run_already_active",
            _("Run %(id)s is being worked on: there is nothing to resume.") % {"id": run.pk},
        )


class OfRun(ReadOnlyAdmin):
    """A table that runs write into."""

    list_select_related = ("run", "run__project")
    raw_id_fields = ("run",)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup == "run__id__exact" or super().lookup_allowed(lookup, value, request)


@admin.register(RunStep)
class RunStepAdmin(OfRun):
    list_display = ("run", "step", "started_at", "finished_at", "total", "done", "failed")
    list_filter = ("step", "started_at")
    search_fields = ("=run__id", "=process_id")
    ordering = ("-run", "order")


@admin.register(RunDocument)
class RunDocumentAdmin(OfRun):
    list_display = ("run", "path", "version", "document_id", "file_hash")
    search_fields = ("=run__id", "path", "=file_hash")
    ordering = ("-run", "path")


@admin.register(RunLog)
class RunLogAdmin(OfRun):
    list_display = ("created_at", "run", "number", "level", "step", "message", "has_traceback")
    list_filter = ("level", "step", "created_at")
    search_fields = ("=run__id", "message", "current_term", "traceback")
    ordering = ("-run", "-number")
    exclude = ("traceback",)
    readonly_fields = ("story",)

    @admin.display(description=_("traceback"), boolean=True)
    def has_traceback(self, line: RunLog) -> bool:
        return bool(line.traceback)

    @admin.display(description=_("traceback"))
    def story(self, line: RunLog) -> SafeString | str:
        return format_html("<pre>{}</pre>", line.traceback) if line.traceback else "–"


@admin.register(RunTerm)
class RunTermAdmin(OfRun):
    list_display = ("run", "text", "category", "score", "frequency", "document_count", "left_out")
    list_filter = (("excluded_because", admin.EmptyFieldListFilter), "category", "language")
    search_fields = ("=run__id", "text", "=key")
    ordering = ("-run", "order")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RunTerm]:
        return super().get_queryset(request).defer("occurrences")

    @admin.display(description=_("left out because"))
    def left_out(self, term: RunTerm) -> str:
        return term.excluded_because[:ERROR_LENGTH]


ENTRY_FILTERS: tuple[str, ...] = ("supported", "needs_review", "category", "prompt_version")


class EntryAdmin(OfRun):
    list_display = (
        "run",
        "term",
        "short_definition",
        "confidence",
        "category",
        "supported",
        "needs_review",
        "prompt_version",
    )
    list_filter = ENTRY_FILTERS
    search_fields = ("=run__id", "term", "=key", "definition")
    ordering = ("-run", "order")

    @admin.display(description=_("definition"))
    def short_definition(self, entry: ProvisionalEntry | RefinedEntry) -> str:
        return entry.definition[:ERROR_LENGTH]


@admin.register(ProvisionalEntry)
class ProvisionalEntryAdmin(EntryAdmin):
    pass


@admin.register(RefinedEntry)
class RefinedEntryAdmin(EntryAdmin):
    list_filter = ("copied", *ENTRY_FILTERS)


@admin.register(RunIssue)
class RunIssueAdmin(OfRun):
    list_display = ("run", "term", "kind", "description", "other_key", "exclude")
    list_filter = ("kind", "exclude")
    search_fields = ("=run__id", "term", "=key", "description")
    ordering = ("-run", "order")


@admin.register(RunFailure)
class RunFailureAdmin(OfRun):
    list_display = ("created_at", "run", "step", "term", "short_error")
    list_filter = ("step", "created_at")
    search_fields = ("=run__id", "term", "=key", "error")
    ordering = ("-pk",)

    @admin.display(description=_("error"))
    def short_error(self, failure: RunFailure) -> str:
        return failure.error[:ERROR_LENGTH]


@admin.register(DocumentTerms)
class DocumentTermsAdmin(ReadOnlyAdmin):
    list_display = ("document", "version", "file_hash")
    list_filter = ("version",)
    search_fields = ("document__path", "=file_hash")
    fields = readonly_fields = ("document", "version", "file_hash")

    def get_queryset(self, request: HttpRequest) -> QuerySet[DocumentTerms]:
        rows = super().get_queryset(request).select_related("document")
        return rows.defer("data", "document__content")
