from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import BooleanField, CharField, ModelForm, PasswordInput
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from django_htmx.middleware import HtmxDetails

from glossary_site.llm.connection import test_connection
from glossary_site.llm.forms import wish_of
from glossary_site.llm.models import Provider
from glossary_site.llm.providers import SITE, config_of
from glossary_site.llm.services.providers import (
    FACTS,
    KEY_LENGTH,
    InvalidSetting,
    checked,
    checked_key,
    clear_provider,
    save_provider,
)
from glossary_site.people.models import User


class ProviderAdminForm(ModelForm):
    api_key = CharField(
        label=_("API key"),
        max_length=KEY_LENGTH,
        required=False,
        widget=PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("It is stored encrypted and never shown again. Blank keeps the stored one."),
    )
    clear_key = BooleanField(label=_("Forget the stored key"), required=False)

    class Meta:
        model = Provider
        fields = ("scope", *FACTS)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                wish = checked(wish_of(values))
                checked_key(values["api_key"])
            except InvalidSetting as invalid:
                self.add_error(
                    invalid.field if invalid.field in self.fields else None, str(invalid)
                )
            else:
                values |= {name: getattr(wish, name) for name in FACTS}
        return values


@admin.register(Provider)
class ProviderAdmin(admin.ModelAdmin):
    """Who answers for the site (scope “site”) and for single projects. A service does the writing,
    so that keys are kept as they should be and every change is told."""

    form = ProviderAdminForm
    list_display = ("scope", "kind", "model", "base_url", "has_key", "bulk_strategy", "enabled")
    list_filter = ("kind", "bulk_strategy", "enabled", "updated_at")
    search_fields = ("scope", "model", "base_url")
    readonly_fields = ("has_key", "version", "created_at", "updated_at")
    fieldsets = (
        (None, {"fields": ("scope", "enabled", "kind", "base_url", "model")}),
        (_("Key"), {"fields": ("has_key", "api_key", "clear_key")}),
        (_("Requests"), {"fields": ("bulk_strategy", "concurrency", "request_timeout", "query")}),
        (
            _("Prices and limits"),
            {"fields": ("input_price", "output_price", "context_tokens", "output_tokens")},
        ),
        (_("History"), {"fields": ("version", "created_at", "updated_at")}),
    )

    @admin.display(description=_("key stored"), boolean=True)
    def has_key(self, provider: Provider) -> bool:
        return bool(provider.encrypted_key)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"scope": SITE}

    def get_readonly_fields(
        self, request: HttpRequest, obj: Provider | None = None
    ) -> tuple[str, ...]:
        # A row that went to another scope would take its key along.
        return (*self.readonly_fields, "scope") if obj else self.readonly_fields

    def save_model(self, request: HttpRequest, obj: Provider, form: Any, change: bool) -> None:
        row = save_provider(
            scope=obj.scope,
            wish=wish_of(form.cleaned_data),
            key=form.cleaned_data["api_key"],
            clear_key=form.cleaned_data["clear_key"],
            actor=actor_of(request),
        )
        obj.pk = row.pk

    def delete_model(self, request: HttpRequest, obj: Provider) -> None:
        clear_provider(scope=obj.scope, actor=actor_of(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Provider]) -> None:
        for provider in queryset:
            clear_provider(scope=provider.scope, actor=actor_of(request))

    def get_urls(self) -> list[URLPattern]:
        test = path(
            "<int:provider_id>/test/",
            self.admin_site.admin_view(self.test),
            name="llm_provider_test",
        )
        return [test, *super().get_urls()]

    @method_decorator(require_POST)
    def test(self, request: HttpRequest, provider_id: int) -> HttpResponse:
        """Ask what is saved, not what is typed in the form."""
        if not self.has_change_permission(request):
            return HttpResponse(status=403)
        provider = get_object_or_404(Provider, pk=provider_id)
        context: dict[str, Any] = {"report": test_connection(config_of(provider))}
        htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
        if htmx:
            return TemplateResponse(request, "llm/_report.html", context)
        context |= self.admin_site.each_context(request)
        context |= {"opts": self.opts, "original": provider, "title": _("Test of the connection")}
        return TemplateResponse(request, "admin/llm/provider/test.html", context)


def actor_of(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # the admin lets nobody else in
    return request.user
