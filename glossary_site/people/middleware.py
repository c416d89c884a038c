from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase


class PrivatePagesMiddleware:
    """What a signed-in person was shown is for them alone: no cache between may keep it, and the
    browser asks again before it shows it again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response
