"""What the admin pages of this app share."""

from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from collection.access import may_collect_all
from collection.services.starting import start
from glossary_site.admin import ReadOnlyAdmin
from glossary_site.errors import Refusal
from glossary_site.jobs.admin import ForOperators

ERROR_LENGTH = 120
A_WEEK = timedelta(days=7)
TRIGGERED_BY = "admin"


class ForCollectors(ForOperators):
    """Those who may collect for the whole site see and change all that is about it."""

    def has_collect_permission(self, request: HttpRequest) -> bool:
        return may_collect_all(request.user)

    def has_module_permission(self, request: HttpRequest) -> bool:
        seen: bool = super().has_module_permission(request)  # type: ignore[misc]
        return seen or may_collect_all(request.user)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        seen: bool = super().has_view_permission(request, obj)  # type: ignore[misc]
        return seen or may_collect_all(request.user)


def rows_link(model: Any, text: object, **query: object) -> SafeString:
    """To the list of another table, narrowed."""
    url = reverse(f"admin:collection_{model._meta.model_name}_changelist")
    words = "&".join(f"{key}={value}" for key, value in query.items())
    return format_html('<a href="{}?{}">{}</a>', url, words, text)


def start_collection(request: HttpRequest, **what: Any) -> None:
    try:
        run = start(actor=request.user, triggered_by=TRIGGERED_BY, **what)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return
    sentence = ngettext(
        "A collection of %(n)d branch was started.",
        "A collection of %(n)d branches was started.",
        run.total_targets,
    )
    messages.success(request, sentence % {"n": run.total_targets})


class OfRepository(ForCollectors, ReadOnlyAdmin):
    """A table that collections write into."""

    list_select_related: ClassVar[Any] = ("repository",)
    raw_id_fields: ClassVar[Any] = ("repository",)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        known = ("repository__id__exact", "branch__id__exact", "run__run_id__exact")
        return lookup in known or super().lookup_allowed(lookup, value, request)
