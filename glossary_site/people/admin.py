from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from glossary_site.admin import ReadOnlyAdmin
from glossary_site.people.models import ApiToken, User


@admin.register(User)
class PeopleAdmin(UserAdmin):
    """Operators make accounts here; roles are given in projects."""

    list_display = ("username", "email", "is_active", "is_superuser", "last_login", "date_joined")
    list_filter = ("is_active", "is_superuser", "is_staff", "password_is_temporary")
    readonly_fields = ("last_login", "date_joined", "password_is_temporary")
    fieldsets = (
        (None, {"fields": ("username", "password", "password_is_temporary")}),
        (_("Personal info"), {"fields": ("first_name", "last_name", "email")}),
        (
            _("Permissions"),
            {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")},
        ),
        (_("Important dates"), {"fields": ("last_login", "date_joined")}),
    )

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        # Django takes every name that begins so for the password itself, which nobody may guess.
        if lookup == "password_is_temporary__exact":
            return True
        return super().lookup_allowed(lookup, value, request)

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: bool) -> None:
        if not change:
            # An operator knows this password: the site asks its owner for another one.
            obj.password_is_temporary = True
        super().save_model(request, obj, form, change)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Which programs use whose name. Deleting a token revokes it."""

    list_display = ("name", "prefix", "user", "created_at", "last_used_at")
    list_filter = ("created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("name", "prefix", "user__username")
    exclude = ("digest",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)
