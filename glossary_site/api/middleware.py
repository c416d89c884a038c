"""What holds for every address under `/api/`, whichever view answers, or none; and that text is
UTF-8, here as on the pages."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from glossary_site.api.errors import body_for_status

PREFIX = "/api/"
JSON = "application/json"


class ApiMiddleware:
    """`/api/projects/` is `/api/projects`, and errors are JSON with a code.

    Most errors are made by the endpoints. This one catches the rest: unknown paths, foreign hosts
    and crashes, for which Django would show a page.
    """

    # Both, so that one sync link does not put the whole chain into a thread.
    sync_capable = True
    async_capable = True

    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
    ) -> None:
        self.get_response: Callable[[HttpRequest], Any] = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        # A charset in the Content-Type header would otherwise decide how a form is read, and Python
        # knows "charsets" that are none, such as rot13.
        request.encoding = "utf-8"
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        prepare(request)
        if self.is_async:
            return self._answer(request)
        return with_code(self.get_response(request))

    async def _answer(self, request: HttpRequest) -> HttpResponseBase:
        return with_code(await self.get_response(request))


def prepare(request: HttpRequest) -> None:
    if request.path_info != PREFIX and request.path_info.endswith("/"):
        request.path_info = request.path_info.rstrip("/")
        request.path = request.path.rstrip("/")


def with_code(response: HttpResponseBase) -> HttpResponseBase:
    is_json = response.get("Content-Type", "").startswith(JSON)
    if response.status_code < 400 or is_json or not isinstance(response, HttpResponse):
        return response
    body = json.dumps(body_for_status(response.status_code), ensure_ascii=False)
    response.content = body.encode()
    response["Content-Type"] = JSON
    response["Content-Length"] = str(len(response.content))
    return response
