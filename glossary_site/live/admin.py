from django.contrib import admin

from glossary_site.admin import ReadOnlyAdmin
from glossary_site.live.models import Event, Stream


@admin.register(Stream)
class StreamAdmin(ReadOnlyAdmin):
    list_display = ("name", "last_number", "pruned_number")
    search_fields = ("name",)
    ordering = ("name",)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "stream", "number", "type")
    list_filter = ("type", "created_at")
    list_select_related = ("stream",)
    search_fields = ("stream__name", "type")
    ordering = ("-pk",)
