from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from glossary_site.admin import ReadOnlyAdmin
from glossary_site.jobs.access import may_operate
from glossary_site.llm.models import Budget, Spending
from glossary_site.llm.services import budgets
from glossary_site.llm.services.budgets import Caps


@admin.register(Budget)
class BudgetAdmin(admin.ModelAdmin):
    """What operators allow. A service does the writing, so that every change has its author."""

    list_display = ("scope", "monthly_tokens", "monthly_cost", "updated_at")
    search_fields = ("scope",)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_operate(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_operate(request.user)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_operate(request.user)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_operate(request.user)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Budget | None = None
    ) -> tuple[str, ...]:
        return ("scope",) if obj else ()

    def save_model(self, request: HttpRequest, obj: Budget, form: Any, change: bool) -> None:
        caps = Caps(obj.monthly_tokens, obj.monthly_cost)
        obj.pk = budgets.set_caps(scope=obj.scope, caps=caps, actor=request.user).pk

    def delete_model(self, request: HttpRequest, obj: Budget) -> None:
        budgets.remove_caps(scope=obj.scope, actor=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Budget]) -> None:
        for row in queryset:
            budgets.remove_caps(scope=row.scope, actor=request.user)


@admin.register(Spending)
class SpendingAdmin(ReadOnlyAdmin):
    list_display = (
        "scope",
        "month",
        "used_tokens",
        "reserved_tokens",
        "used_cost_shown",
        "reserved_cost_shown",
    )
    list_filter = ("month",)
    search_fields = ("scope",)

    @admin.display(description=_("cost"), ordering="used_nano")
    def used_cost_shown(self, spending: Spending) -> object:
        return spending.used_cost

    @admin.display(description=_("reserved cost"), ordering="reserved_nano")
    def reserved_cost_shown(self, spending: Spending) -> object:
        return spending.reserved_cost
