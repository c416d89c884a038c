from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from glossary_site.admin import ReadOnlyAdmin
from projects.document_facts import FACTS, facts_of_many
from projects.glance import with_glance
from projects.models import (
    Document,
    DocumentVersion,
    EntryRevision,
    GlossaryEntry,
    Membership,
    Project,
    SynonymGroup,
    Term,
    TermCategory,
)


class MembershipInline(admin.TabularInline):
    model = Membership
    extra = 0
    can_delete = False
    readonly_fields = ("user", "role", "created_at")

    def has_add_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        return False


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    list_display = (
        "name",
        "language",
        "documents",
        "terms_count",
        "members_count",
        "created_at",
        "page",
    )
    list_filter = ("language", "created_at")
    search_fields = ("name", "description", "memberships__user__username")
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        return with_glance(Project.objects.all())

    @admin.display(description=_("documents"), ordering="glance_documents")
    def documents(self, project: Project) -> int:
        return int(project.glance_documents)  # type: ignore[attr-defined]

    @admin.display(description=_("terms"), ordering="glance_terms")
    def terms_count(self, project: Project) -> int:
        return int(project.glance_terms)  # type: ignore[attr-defined]

    @admin.display(description=_("members"), ordering="glance_members")
    def members_count(self, project: Project) -> int:
        return int(project.glance_members)  # type: ignore[attr-defined]

    @admin.display(description=_("page"))
    def page(self, project: Project) -> SafeString:
        return format_html('<a href="{}">{}</a>', project.get_absolute_url(), _("open"))


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ("user", "project", "role", "created_at")
    list_filter = ("role", "created_at")
    list_select_related = ("user", "project")
    search_fields = ("user__username", "project__name")


class WithFacts(ChangeList):
    """What apps above add to each document, asked for a whole page at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        documents = list(self.result_list)
        for document, cells in zip(documents, facts_of_many(documents).values(), strict=True):
            document.facts = cells
        self.result_list = documents


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    list_display = ("path", "project", "title", "format", "source", "version", "updated_at")
    list_filter = ("format", "source", "updated_at", "project")
    list_select_related = ("project",)
    search_fields = ("path", "title", "file_hash")

    class Media:
        js = ("admin_live.js",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return Document.objects.listed()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return WithFacts

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [*self.list_display, *(_column(n) for n in range(len(FACTS)))]


def _column(number: int) -> Callable[[Document], SafeString]:
    @admin.display(description=FACTS[number].label)
    def fact(document: Document) -> SafeString:
        # The words of the badge: the admin has a look of its own.
        words = strip_tags(document.facts[number].value)  # type: ignore[attr-defined]
        name = f"{FACTS[number].key}-{document.pk}"
        return format_html('<span data-live="{}">{}</span>', name, words)

    return fact


@admin.register(DocumentVersion)
class DocumentVersionAdmin(ReadOnlyAdmin):
    list_display = ("document", "number", "source", "author", "byte_size", "created_at")
    list_filter = ("source", "created_at")
    list_select_related = ("document", "author")
    search_fields = ("document__path", "file_hash", "author__username")

    def get_queryset(self, request: HttpRequest) -> QuerySet[DocumentVersion]:
        return DocumentVersion.objects.defer("content", "document__content")


@admin.register(Term)
class TermAdmin(ReadOnlyAdmin):
    list_display = (
        "text",
        "project",
        "status",
        "category",
        "score",
        "frequency",
        "document_count",
        "by_hand",
        "updated_at",
    )
    list_filter = ("status", "language", "by_hand", "category", "updated_at", "project")
    list_select_related = ("project",)
    search_fields = ("text", "key", "reading", "notes")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Term]:
        return Term.objects.listed()


class MemberTermInline(admin.TabularInline):
    """The terms of a synonym group."""

    model = Term
    fk_name = "group"
    extra = 0
    can_delete = False
    fields = readonly_fields = ("text", "status", "category", "frequency")

    def has_add_permission(self, request: HttpRequest, obj: SynonymGroup | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Term]:
        return Term.objects.listed()


@admin.register(SynonymGroup)
class SynonymGroupAdmin(ReadOnlyAdmin):
    list_display = ("primary", "project", "members", "created_at")
    list_filter = ("created_at", "project")
    list_select_related = ("primary", "project")
    search_fields = ("primary__text", "terms__text")
    inlines = (MemberTermInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SynonymGroup]:
        return SynonymGroup.objects.annotate(members_count=Count("terms"))

    @admin.display(description=_("terms"), ordering="members_count")
    def members(self, group: SynonymGroup) -> int:
        return int(group.members_count)  # type: ignore[attr-defined]


@admin.register(TermCategory)
class TermCategoryAdmin(ReadOnlyAdmin):
    list_display = ("name", "key", "project", "auto_exclude")
    list_filter = ("auto_exclude", "project")
    list_select_related = ("project",)
    search_fields = ("name", "key")


@admin.register(GlossaryEntry)
class GlossaryEntryAdmin(ReadOnlyAdmin):
    list_display = (
        "term",
        "project",
        "category",
        "confidence",
        "supported",
        "needs_review",
        "locked_fields",
        "run_id",
        "version",
        "updated_at",
    )
    list_filter = ("needs_review", "supported", "language", "category", "updated_at", "project")
    list_select_related = ("project",)
    search_fields = ("term", "key", "reading", "definition")

    def get_queryset(self, request: HttpRequest) -> QuerySet[GlossaryEntry]:
        return GlossaryEntry.objects.listed()

    @admin.display(description=_("locked fields"))
    def locked_fields(self, entry: GlossaryEntry) -> str:
        return ", ".join(entry.locked)


@admin.register(EntryRevision)
class EntryRevisionAdmin(ReadOnlyAdmin):
    list_display = (
        "term",
        "number",
        "project",
        "change",
        "author",
        "run_id",
        "batch",
        "is_undone",
        "created_at",
    )
    list_filter = ("change", "created_at", "project")
    list_select_related = ("project", "author")
    search_fields = ("term", "batch", "author__username")

    def get_queryset(self, request: HttpRequest) -> QuerySet[EntryRevision]:
        return EntryRevision.objects.defer("before", "after")

    @admin.display(description=_("undone"), boolean=True)
    def is_undone(self, revision: EntryRevision) -> bool:
        return revision.undone_by_id is not None
