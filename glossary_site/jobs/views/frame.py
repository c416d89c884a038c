"""The frame of the operators' pages, and the doors of it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from glossary_site.jobs.access import may_operate, may_watch
from glossary_site.jobs.news import OPERATIONS
from glossary_site.live import reading

View = Callable[..., HttpResponse]


def for_watchers(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not may_watch(request.user):
            raise PermissionDenied(_("Background work is shown to operators of the site only."))
        return view(request, *args, **kwargs)

    return guarded


def for_operators(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not may_operate(request.user):
            raise PermissionDenied(_("Only operators of the site may change background work."))
        return view(request, *args, **kwargs)

    return guarded


def operations_context(request: HttpRequest, tab: str) -> dict[str, Any]:
    """What jobs/base.html needs. Call it before reading anything else: what changes while the page
    is made then arrives by the feed, and is never missed."""
    return {
        "nav": "operations",
        "tab": tab,
        "live_after": reading.position(OPERATIONS).last,
        "can_operate": may_operate(request.user),
    }
