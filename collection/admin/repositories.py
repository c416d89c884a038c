"""Repositories: which cannot be collected and why; those for all projects are added here."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from collection.access import may_collect_all
from collection.admin.base import A_WEEK, ERROR_LENGTH, ForCollectors, rows_link, start_collection
from collection.admin.forms import WISHES, RepositoryForm
from collection.choices import USABLE, State
from collection.models import Branch, BulkCollectionResult, Commit, Repository, RepositoryFile
from collection.services.repositories import (
    add_repository,
    change_repository,
    check_repository,
    remove_repository,
    set_enabled,
)
from glossary_site.errors import Refusal
from indexing.admin import Choice


class RepositoryCondition(Choice):
    title = gettext_lazy("condition")
    parameter_name = "condition"
    choices_of = {
        "failing": (
            gettext_lazy("Cannot be collected: the message says why"),
            lambda rows: rows.exclude(state__in=[*USABLE, State.NEW]),
        ),
        "attention": (
            gettext_lazy("Collected, with something to know"),
            lambda rows: rows.filter(state__in=USABLE).exclude(state_message=""),
        ),
        "documents": (
            gettext_lazy("Trouble with documents"),
            lambda rows: rows.exclude(documents_error=""),
        ),
        "rewritten": (
            gettext_lazy("History rewritten in the last week"),
            lambda rows: rows.filter(
                Exists(
                    Branch.objects.filter(
                        repository=OuterRef("pk"), rewritten_at__gte=timezone.now() - A_WEEK
                    )
                )
            ),
        ),
        "forgotten": (
            gettext_lazy("To be collected, and not asked for a week"),
            lambda rows: rows.filter(enabled=True).exclude(checked_at__gte=timezone.now() - A_WEEK),
        ),
        "paused": (gettext_lazy("Paused"), lambda rows: rows.filter(enabled=False)),
        "shared": (
            gettext_lazy("For all projects"),
            lambda rows: rows.filter(project__isnull=True),
        ),
    }


@admin.register(Repository)
class RepositoryAdmin(ForCollectors, admin.ModelAdmin):
    """Rows that operators write, through the services. Those for all projects are added here."""

    form = RepositoryForm
    list_per_page = 50
    show_full_result_count = False
    list_display = (
        "name",
        "project",
        "kind",
        "address",
        "state",
        "short_message",
        "enabled",
        "checked_at",
    )
    list_filter = (RepositoryCondition, "state", "kind", "enabled", "project")
    list_select_related = ("project",)
    search_fields = ("name", "address", "project__name", "state_message")
    autocomplete_fields = ("project",)
    actions = ("test_connection", "collect", "pause", "go_on")
    readonly_fields = (
        "stored_secret",
        "enabled",
        "state",
        "state_message",
        "default_branch",
        "checked_at",
        "documents_head",
        "documents_at",
        "documents_error",
        "collected",
        "page",
        "added_by",
        "created_at",
        "updated_at",
    )
    fieldsets = (
        (None, {"fields": ("project", "address", "kind", "name")}),
        (
            gettext_lazy("Access"),
            {"fields": ("username", "stored_secret", "new_secret", "clear_secret")},
        ),
        (gettext_lazy("Commits"), {"fields": ("branch_patterns", "since")}),
        (
            gettext_lazy("Documents"),
            {"fields": ("document_patterns", "document_folder", "document_branch")},
        ),
        (gettext_lazy("Consequences"), {"fields": ("confirm",)}),
        (
            gettext_lazy("Found"),
            {
                "fields": (
                    "page",
                    "enabled",
                    "state",
                    "state_message",
                    "default_branch",
                    "checked_at",
                    "documents_head",
                    "documents_at",
                    "documents_error",
                    "collected",
                    "added_by",
                    "created_at",
                    "updated_at",
                )
            },
        ),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Repository | None = None) -> Any:
        """Of one that is not there yet, nothing has been found, and nothing can go."""
        return self.fieldsets if obj is not None else self.fieldsets[:-2]

    def get_readonly_fields(self, request: HttpRequest, obj: Repository | None = None) -> Any:
        # Its commits and documents are those of its project.
        return self.readonly_fields if obj is None else ("project", *self.readonly_fields)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_collect_all(request.user)

    def has_change_permission(self, request: HttpRequest, obj: Repository | None = None) -> bool:
        return may_collect_all(request.user)

    def has_delete_permission(self, request: HttpRequest, obj: Repository | None = None) -> bool:
        return may_collect_all(request.user)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        # They are removed one by one, with a look at what goes.
        actions.pop("delete_selected", None)
        return actions

    @admin.display(description=gettext_lazy("what was found"))
    def short_message(self, row: Repository) -> str:
        return row.state_message[:ERROR_LENGTH]

    @admin.display(description=gettext_lazy("secret"))
    def stored_secret(self, row: Repository) -> str:
        return _("stored") if row.secret else _("none")

    @admin.display(description=gettext_lazy("page"))
    def page(self, row: Repository) -> SafeString | str:
        if row.project_id is None:
            return "–"
        return format_html('<a href="{}">{}</a>', row.get_absolute_url(), _("open"))

    @admin.display(description=gettext_lazy("collected"))
    def collected(self, row: Repository) -> SafeString:
        parts = (
            (rows_link(model, model._meta.verbose_name_plural, repository__id__exact=row.pk),)
            for model in (Branch, Commit, RepositoryFile, BulkCollectionResult)
        )
        return format_html_join(" · ", "{}", parts)

    def save_model(
        self, request: HttpRequest, obj: Repository, form: ModelForm, change: bool
    ) -> None:
        assert isinstance(form, RepositoryForm)
        if change:
            # As the person saw it, not as the form has already made it.
            seen = Repository.objects.select_related("project").get(pk=obj.pk)
            changed = {
                name: value
                for name, value in form.wishes().items()
                if name not in WISHES or name in form.changed_data
            }
            change_repository(
                repository=seen,
                actor=request.user,
                clear_secret=form.cleaned_data["clear_secret"],
                confirm=form.confirmed(),
                **changed,
            )
            return
        added = add_repository(
            project=form.cleaned_data["project"], actor=request.user, **form.wishes()
        )
        obj.pk = added.pk

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """The service has saved everything."""

    def delete_model(self, request: HttpRequest, obj: Repository) -> None:
        remove_repository(repository=obj, actor=request.user)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """In numbers: Django would load and list every commit."""
        pks = [each.pk for each in objs]
        counts = {
            model._meta.verbose_name_plural: model.objects.filter(repository__in=pks).count()
            for model in (Branch, Commit, RepositoryFile, BulkCollectionResult)
        }
        told = [str(each) for each in objs] + [f"{name}: {n}" for name, n in counts.items()]
        return told, counts, set(), []

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_why_not(request, super().changeform_view, *args, **kwargs)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._or_why_not(request, super().delete_view, *args, **kwargs)

    def _or_why_not(self, request: HttpRequest, view: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return view(request, *args, **kwargs)
        except Refusal as refusal:
            # Whatever was begun is undone; the page shows how it is now.
            messages.error(request, str(refusal))
            return redirect(request.get_full_path())

    @admin.action(description=gettext_lazy("Test connection"), permissions=["collect"])
    def test_connection(self, request: HttpRequest, rows: QuerySet[Repository]) -> None:
        for row in rows:
            try:
                checked = check_repository(row, actor=request.user)
            except Refusal as refusal:
                messages.error(request, f"{row}: {refusal}")
                continue
            words = f"{row}: {checked.state.label}."
            if checked.is_usable:
                count = len(checked.matching)
                words += " " + ngettext(
                    "%(n)d branch is followed.", "%(n)d branches are followed.", count
                ) % {"n": count}
            words += f" {checked.message}"
            tell = messages.success if checked.is_usable else messages.error
            tell(request, words.strip())

    @admin.action(description=gettext_lazy("Collect"), permissions=["collect"])
    def collect(self, request: HttpRequest, rows: QuerySet[Repository]) -> None:
        chosen = list(rows)
        projects = {row.project_id for row in chosen}
        whose = chosen[0].project if len(projects) == 1 else None
        start_collection(request, project=whose, repositories=chosen)

    @admin.action(description=gettext_lazy("Pause"), permissions=["collect"])
    def pause(self, request: HttpRequest, rows: QuerySet[Repository]) -> None:
        self.for_each(
            request,
            rows,
            lambda row: set_enabled(repository=row, enabled=False, actor=request.user),
        )

    @admin.action(description=gettext_lazy("Let go on"), permissions=["collect"])
    def go_on(self, request: HttpRequest, rows: QuerySet[Repository]) -> None:
        self.for_each(
            request,
            rows,
            lambda row: set_enabled(repository=row, enabled=True, actor=request.user),
        )
