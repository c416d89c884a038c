"""How pages show the state of the index."""

from datetime import timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from glossary_site.durations import in_words
from glossary_site.templatetags.site import badge, since
from indexing.choices import IndexStatus, RequestStatus
from indexing.models import IndexRequest
from indexing.search.options import SearchResult
from indexing.services.requests import MOST_ATTEMPTS
from indexing.services.states import DocumentState

register = template.Library()

# An icon and words beside the colour: each is enough to tell a state.
FRESHNESS = {
    IndexStatus.LATEST: ("badge-ok", "check"),
    IndexStatus.UPDATING: ("badge-info", "refresh"),
    IndexStatus.OUTDATED: ("badge-warn", "clock"),
}
REQUESTS = {
    RequestStatus.PENDING: ("", "clock"),
    RequestStatus.PROCESSING: ("badge-info", "refresh"),
    RequestStatus.COMPLETED: ("badge-ok", "check"),
    RequestStatus.FAILED: ("badge-bad", "alert"),
    RequestStatus.SKIPPED: ("", "close"),
}
HASH_LENGTH = 10


@register.simple_tag
def freshness_badge(result: SearchResult) -> SafeString:
    """“latest”, with the text it is fresh against on hover."""
    words = {
        "ago": since(result.indexed_at, timezone.now()),
        "hash": result.document_hash[:HASH_LENGTH],
    }
    status = IndexStatus(result.index_status)
    return _titled(
        badge(*FRESHNESS[status], str(status.label)), _("Indexed %(ago)s (%(hash)s)") % words
    )


@register.simple_tag
def state_badge(state: DocumentState | None) -> SafeString:
    """Of a document: what went wrong, or when it was indexed, on hover."""
    if state is None:
        return badge("", "clock", _("not indexed yet"))
    if state.error and not state.is_latest and not state.has_pending_update:
        return _titled(badge("badge-bad", "alert", _("failed")), state.error)
    if state.status is None:
        return badge("", "clock", _("not indexed yet"))
    status = IndexStatus(state.status)
    drawn = badge(*FRESHNESS[status], str(status.label))
    if state.error and state.has_pending_update:
        return _titled(drawn, _("Last attempt: %(error)s") % {"error": state.error})
    if state.indexed_at is None:
        return drawn
    ago = since(state.indexed_at, timezone.now())
    return _titled(drawn, _("Indexed %(ago)s") % {"ago": ago})


@register.simple_tag
def request_badge(request: IndexRequest) -> SafeString:
    return badge(*REQUESTS[RequestStatus(request.status)], request.get_status_display())


@register.filter
def is_given_up(request: IndexRequest) -> bool:
    """Not tried again but by hand."""
    return request.status == RequestStatus.FAILED and request.attempts >= MOST_ATTEMPTS


@register.filter
def took(request: IndexRequest) -> str:
    """How long its last attempt was at work; most take far less than a second."""
    if request.started_at is None or request.completed_at is None:
        return ""
    length = request.completed_at - request.started_at
    if length < timedelta(seconds=1):
        return _("%(n)d ms") % {"n": length / timedelta(milliseconds=1)}
    return in_words(length)


def _titled(badge: SafeString, title: str) -> SafeString:
    return format_html('<span title="{}">{}</span>', title, badge)
