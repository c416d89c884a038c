from collections.abc import Callable
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

READING = ("GET", "HEAD")


class SignInFirstMiddleware(LoginRequiredMiddleware):
    """Whoever pressed a button after their session had ended comes back to the page it is on: what
    they sent is not sent again, and the address it went to is often no page."""

    def handle_no_permission(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseRedirect:
        if request.method in READING:
            return super().handle_no_permission(request, view_func)
        # What htmx sends is answered with a page that nobody sees.
        if "HX-Request" not in request.headers:
            messages.warning(
                request, _("You were signed out, so nothing was done. Please do it once more.")
            )
        return redirect_to_login(
            _page_before(request),
            self.get_login_url(view_func),
            self.get_redirect_field_name(view_func),
        )


class PrivatePagesMiddleware:
    """What a signed-in person was shown is for them alone: no cache between may keep it, and the
    browser asks again before it shows it again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and request.method == "GET":
            # The address of a button, typed or gone back to: browsers have no page for it.
            page = render(request, "405.html", status=response.status_code)
            page.headers["Allow"] = response.headers["Allow"]
            response = page
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


def _page_before(request: HttpRequest) -> str:
    before = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(before, allowed_hosts={request.get_host()}):
        return "/"
    parts = urlsplit(before)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path or "/"
