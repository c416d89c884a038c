"""What collections have stored: branches, commits, files, and who wrote them."""

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from collection.admin.base import ERROR_LENGTH, ForCollectors, OfRepository, rows_link
from collection.choices import BranchState
from collection.models import (
    Author,
    AuthorAlias,
    Branch,
    Commit,
    CommitPath,
    RepositoryFile,
    SavedFilter,
    VersionOrigin,
)
from glossary_site.admin import ReadOnlyAdmin
from indexing.admin import Choice


class BranchCondition(Choice):
    title = gettext_lazy("condition")
    parameter_name = "condition"
    choices_of = {
        "waiting": (
            gettext_lazy("Followed, and never collected to its end"),
            lambda rows: rows.filter(state=BranchState.FOLLOWED, complete=False),
        ),
        "rewritten": (
            gettext_lazy("History rewritten"),
            lambda rows: rows.filter(rewritten_at__isnull=False),
        ),
    }


@admin.register(Branch)
class BranchAdmin(OfRepository):
    list_display = (
        "repository",
        "name",
        "state",
        "short_head",
        "complete",
        "collected_at",
        "rewritten_at",
        "commits_link",
    )
    list_filter = (BranchCondition, "state", "complete", "collected_at")
    search_fields = ("name", "repository__name", "=head")

    @admin.display(description=gettext_lazy("collected up to"), ordering="head")
    def short_head(self, row: Branch) -> str:
        return row.head[:10] or "–"

    @admin.display(description=gettext_lazy("commits"))
    def commits_link(self, row: Branch) -> SafeString:
        return rows_link(Commit, _("open"), branch__id__exact=row.pk)


@admin.register(Commit)
class CommitAdmin(OfRepository):
    list_display = (
        "short_sha",
        "repository",
        "branch",
        "author_name",
        "committed_date",
        "additions",
        "deletions",
        "subject",
        "unreachable",
    )
    list_filter = ("unreachable", "committed_date", "repository")
    list_select_related = ("repository", "branch")
    raw_id_fields = ("repository", "branch")
    search_fields = ("sha__startswith", "=author_email", "subject")
    # By date there is an index for one branch or repository; for the whole table there is this.
    ordering = ("-pk",)


class FileCondition(Choice):
    title = gettext_lazy("condition")
    parameter_name = "condition"
    choices_of = {
        "refused": (gettext_lazy("Refused"), lambda rows: rows.exclude(error="")),
        "without": (
            gettext_lazy("Without a document"),
            lambda rows: rows.filter(document__isnull=True),
        ),
    }


@admin.register(RepositoryFile)
class RepositoryFileAdmin(OfRepository):
    list_display = ("path", "repository", "blob", "short_error")
    list_filter = (FileCondition, "repository")
    raw_id_fields = ("repository", "document")
    search_fields = ("path", "=blob", "error")

    @admin.display(description=gettext_lazy("error"))
    def short_error(self, row: RepositoryFile) -> str:
        return row.error[:ERROR_LENGTH]


@admin.register(VersionOrigin)
class VersionOriginAdmin(OfRepository):
    list_display = ("path", "version", "repository", "sha")
    list_filter = ("repository",)
    raw_id_fields = ("repository", "document")
    search_fields = ("path", "=sha")


@admin.register(CommitPath)
class CommitPathAdmin(OfRepository):
    list_display = ("path", "sha", "repository")
    list_filter = ("repository",)
    search_fields = ("path", "=sha")
    ordering = ("-pk",)


@admin.register(Author)
class AuthorAdmin(ForCollectors, ReadOnlyAdmin):
    list_display = ("name", "email", "project")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("name", "email", "project__name")


@admin.register(AuthorAlias)
class AuthorAliasAdmin(ForCollectors, ReadOnlyAdmin):
    list_display = ("name", "email", "author", "repository", "project")
    list_filter = (("repository", admin.EmptyFieldListFilter), "project")
    list_select_related = ("project", "author", "repository")
    raw_id_fields = ("author", "repository")
    search_fields = ("name", "email", "author__name")


@admin.register(SavedFilter)
class SavedFilterAdmin(ForCollectors, ReadOnlyAdmin):
    list_display = ("name", "project", "made_by", "created_at")
    list_filter = ("project",)
    list_select_related = ("project", "made_by")
    search_fields = ("name", "project__name")
