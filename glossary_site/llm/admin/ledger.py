from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from glossary_site.admin import ReadOnlyAdmin
from glossary_site.llm.models import Dialect, EmbeddingCall, LedgerEntry
from glossary_site.llm.tokens import cost_of_nano


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    list_display = (
        "short_fingerprint",
        "status",
        "model",
        "process_id",
        "sendings",
        "input_tokens",
        "output_tokens",
        "cost",
        "sent_at",
        "answered_at",
    )
    list_filter = ("status", "model", "sent_at")
    search_fields = ("=fingerprint", "=process_id", "=custom_id", "=batch_job_id", "error")

    def get_queryset(self, request: HttpRequest) -> QuerySet[LedgerEntry]:
        return super().get_queryset(request).defer("answer_json")

    @admin.display(description=_("fingerprint"), ordering="fingerprint")
    def short_fingerprint(self, entry: LedgerEntry) -> str:
        return entry.fingerprint[:12]

    @admin.display(description=_("cost"), ordering="cost_nano")
    def cost(self, entry: LedgerEntry) -> object:
        return cost_of_nano(entry.cost_nano)


@admin.register(EmbeddingCall)
class EmbeddingCallAdmin(ReadOnlyAdmin):
    list_display = (
        "short_fingerprint",
        "status",
        "scope",
        "model",
        "texts",
        "dimensions",
        "sendings",
        "input_tokens",
        "cost",
        "sent_at",
        "answered_at",
    )
    list_filter = ("status", "model", "sent_at")
    search_fields = ("=fingerprint", "=scope", "error")
    exclude = ("vectors",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmbeddingCall]:
        return super().get_queryset(request).defer("vectors")

    @admin.display(description=_("fingerprint"), ordering="fingerprint")
    def short_fingerprint(self, call: EmbeddingCall) -> str:
        return call.fingerprint[:12]

    @admin.display(description=_("cost"), ordering="cost_nano")
    def cost(self, call: EmbeddingCall) -> object:
        return cost_of_nano(call.cost_nano)


@admin.register(Dialect)
class DialectAdmin(ReadOnlyAdmin):
    list_display = (
        "base_url",
        "model",
        "json_mode",
        "newer_limit",
        "no_temperature",
        "no_batches",
        "learned_at",
    )
    list_filter = ("json_mode", "no_batches")
    search_fields = ("base_url", "model")
