"""For operators: what waits, what is stuck and why; the sections, vectors and folders behind it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from glossary_site.admin import ReadOnlyAdmin
from glossary_site.jobs.admin import ForOperators
from indexing.choices import RequestStatus
from indexing.models import (
    FolderFile,
    FolderSource,
    IndexedDocument,
    IndexRequest,
    ProjectIndex,
    Section,
    SectionVector,
)
from indexing.querysets import IndexRequestQuerySet
from indexing.services.requests import MOST_ATTEMPTS, retry_requests
from projects.models import Project

ERROR_LENGTH = 120
# Longer than this nothing should wait that is due: not even while a large upload is worked off.
PATIENCE = timedelta(minutes=5)
VECTOR_NUMBER_BYTES = 2
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Narrow = Callable[[Any], Any]


class Choice(admin.SimpleListFilter):
    """A filter whose every choice is a question that operators ask."""

    choices_of: dict[str, tuple[Any, Narrow]] = {}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, title) for name, (title, _narrow) in self.choices_of.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        narrowed: QuerySet[Any] = queryset
        if chosen in self.choices_of:
            narrowed = self.choices_of[chosen][1](queryset)
        return narrowed


class RequestCondition(Choice):
    title = _("condition")
    parameter_name = "condition"
    choices_of = {
        "stuck": (
            _("Stuck: the worker is not heard of"),
            lambda rows: rows.filter(
                status=RequestStatus.PROCESSING, lease_until__lt=timezone.now()
            ),
        ),
        "starved": (
            _("Starved: due for over five minutes"),
            lambda rows: rows.due(timezone.now() - PATIENCE),
        ),
        "retried": (
            _("Failed, tried again by itself"),
            lambda rows: rows.filter(status=RequestStatus.FAILED, attempts__lt=MOST_ATTEMPTS),
        ),
        "given_up": (
            _("Failed, waits for somebody"),
            lambda rows: rows.filter(status=RequestStatus.FAILED, attempts__gte=MOST_ATTEMPTS),
        ),
    }


@admin.register(IndexRequest)
class IndexRequestAdmin(ForOperators, ReadOnlyAdmin):
    list_display = (
        "id",
        "project",
        "path",
        "document_version",
        "status",
        "force",
        "attempts",
        "due_at",
        "completed_at",
        "short_error",
    )
    list_filter = (RequestCondition, "status", "force", "created_at", "project")
    search_fields = ("=id", "document__path", "document_hash", "error")
    actions = ("retry",)

    def get_queryset(self, request: HttpRequest) -> IndexRequestQuerySet:
        return IndexRequest.objects.listed().select_related("project", "document")

    @admin.display(description=_("document"), ordering="document__path")
    def path(self, row: IndexRequest) -> str:
        return row.document.path

    @admin.display(description=_("error"))
    def short_error(self, row: IndexRequest) -> str:
        return row.error[:ERROR_LENGTH]

    @admin.action(description=_("Try again now"), permissions=["operate"])
    def retry(self, request: HttpRequest, rows: QuerySet[IndexRequest]) -> None:
        chosen = rows.order_by("project_id", "pk").values_list("project_id", "pk")
        count = 0
        for project_id, requests in groupby(list(chosen), key=lambda row: row[0]):
            count += retry_requests(
                project=Project.objects.get(pk=project_id),
                actor=request.user,
                request_ids=[pk for _project_id, pk in requests],
            )
        sentence = ngettext(
            "%(n)d request is tried again now.", "%(n)d requests are tried again now.", count
        )
        messages.add_message(
            request, messages.SUCCESS if count else messages.WARNING, sentence % {"n": count}
        )


@admin.register(ProjectIndex)
class ProjectIndexAdmin(ReadOnlyAdmin):
    list_display = ("project", "generation", "chosen_embedder", "serving_embedder")
    list_filter = ("serving_embedder", "chosen_embedder")
    list_select_related = ("project",)
    search_fields = ("project__name", "serving_embedder")


class Freshness(Choice):
    title = _("state")
    parameter_name = "state"
    choices_of = {
        "latest": (
            _("Of the present text"),
            lambda rows: rows.filter(document_hash=F("document__file_hash")),
        ),
        "behind": (
            _("Of an earlier text"),
            lambda rows: rows.exclude(document_hash=F("document__file_hash")),
        ),
        "forgotten": (
            _("Of an earlier text, and nothing asked for"),
            lambda rows: rows.exclude(document_hash=F("document__file_hash")).exclude(
                Exists(IndexRequest.objects.open().filter(document=OuterRef("document_id")))
            ),
        ),
    }


@admin.register(IndexedDocument)
class IndexedDocumentAdmin(ReadOnlyAdmin):
    list_display = (
        "path",
        "project",
        "document_version",
        "section_count",
        "token_count",
        "generation",
        "indexed_at",
    )
    list_filter = (Freshness, "indexed_at", "project")
    search_fields = ("document__path", "document_hash")

    def get_queryset(self, request: HttpRequest) -> QuerySet[IndexedDocument]:
        rows = IndexedDocument.objects.select_related("document", "project")
        return rows.defer("document__content")

    @admin.display(description=_("document"), ordering="document__path")
    def path(self, row: IndexedDocument) -> str:
        return row.document.path


@admin.register(Section)
class SectionAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "path",
        "number",
        "part",
        "heading",
        "depth",
        "line_start",
        "line_end",
        "token_count",
        "vectors_made",
    )
    list_filter = ("depth", "created_at", "project")
    search_fields = ("=id", "document__path", "heading", "=text_hash")
    # A list of all sections of the site to choose a parent from would be long.
    raw_id_fields = ("parent",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Section]:
        rows = Section.objects.listed().select_related("document").defer("document__content")
        made = SectionVector.objects.filter(section=OuterRef("pk"))
        return rows.annotate(has_vector=Exists(made))

    @admin.display(description=_("document"), ordering="document__path")
    def path(self, row: Section) -> str:
        return row.document.path

    @admin.display(description=_("vector"), boolean=True)
    def vectors_made(self, row: Section) -> bool:
        return bool(row.has_vector)  # type: ignore[attr-defined]


@admin.register(SectionVector)
class SectionVectorAdmin(ReadOnlyAdmin):
    list_display = ("section_id", "embedder", "dimensions", "path")
    list_filter = ("embedder",)
    search_fields = ("=section__id", "section__document__path")
    fields = readonly_fields = ("section", "embedder", "dimensions")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SectionVector]:
        rows = SectionVector.objects.select_related("section__document")
        texts = ("content", "heading_words", "words", "document__content")
        return rows.defer("vector", *(f"section__{text}" for text in texts)).annotate(
            bytes=Length("vector")
        )

    @admin.display(description=_("dimensions"))
    def dimensions(self, row: SectionVector) -> int:
        return int(row.bytes) // VECTOR_NUMBER_BYTES  # type: ignore[attr-defined]

    @admin.display(description=_("document"))
    def path(self, row: SectionVector) -> str:
        return row.section.document.path


class FolderCondition(Choice):
    title = _("condition")
    parameter_name = "condition"
    choices_of = {
        "failing": (_("Cannot be followed"), lambda rows: rows.exclude(error="")),
        "unwatched": (
            _("To be followed, and nobody does"),
            lambda rows: rows.filter(enabled=True).exclude(lease_until__gte=timezone.now()),
        ),
    }


@admin.register(FolderSource)
class FolderSourceAdmin(ReadOnlyAdmin):
    list_display = (
        "directory",
        "project",
        "enabled",
        "holder",
        "lease_until",
        "reconciled_at",
        "changed_at",
        "short_error",
        "files_link",
    )
    list_filter = (FolderCondition, "enabled", "project")
    list_select_related = ("project",)
    search_fields = ("directory", "project__name", "error")

    @admin.display(description=_("error"))
    def short_error(self, row: FolderSource) -> str:
        return row.error[:ERROR_LENGTH]

    @admin.display(description=_("files"))
    def files_link(self, row: FolderSource) -> SafeString:
        return format_html('<a href="../folderfile/?source={}">{}</a>', row.pk, _("open"))


class FileCondition(Choice):
    title = _("condition")
    parameter_name = "condition"
    choices_of = {
        "refused": (_("Refused"), lambda rows: rows.exclude(error="")),
        "without": (_("Without a document"), lambda rows: rows.filter(document__isnull=True)),
    }


@admin.register(FolderFile)
class FolderFileAdmin(ReadOnlyAdmin):
    list_display = ("path", "source", "size", "modified", "short_error")
    list_filter = (FileCondition, "source")
    list_select_related = ("source",)
    search_fields = ("path", "content_hash", "error")
    raw_id_fields = ("document",)

    @admin.display(description=_("modified"), ordering="modified_ns")
    def modified(self, row: FolderFile) -> datetime | None:
        try:
            return EPOCH + timedelta(microseconds=row.modified_ns // 1000)
        except OverflowError:
            # A file may claim any time.
            return None

    @admin.display(description=_("error"))
    def short_error(self, row: FolderFile) -> str:
        return row.error[:ERROR_LENGTH]
