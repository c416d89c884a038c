"""A request has a trace id: in what it logs, in what it causes, and in its answer."""

import asyncio
import json

import httpx
import pytest
from django.contrib.auth.decorators import login_not_required
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.test import Client
from django.urls import path

from glossary_site.asgi import application
from glossary_site.observe.middleware import traced
from glossary_site.observe.trace import bound, current
from glossary_site.urls import urlpatterns as site_urls

pytestmark = pytest.mark.urls(__name__)

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@login_not_required
def sync_view(request):
    return JsonResponse(current())


@login_not_required
async def async_view(request):
    return JsonResponse(await asyncio.to_thread(current))


@login_not_required
async def stream(request):
    async def words():
        await asyncio.sleep(0)
        yield json.dumps(current())

    return StreamingHttpResponse(words())


@login_not_required
def crash(request):
    raise RuntimeError("with api_key=hunter2")


@login_not_required
def quiet(request):
    return HttpResponse("ok")


urlpatterns = [
    path("sync", sync_view),
    path("async", async_view),
    path("stream", stream),
    path("crash", crash),
    path("quiet", quiet, name="healthz"),
    # Error pages link to others.
    *site_urls,
]


async def get(url, **headers):
    transport = httpx.ASGITransport(application, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.get(url, headers=headers)


@pytest.mark.parametrize("url", ["/sync", "/async", "/stream"])
async def test_a_request_is_in_its_callers_trace_to_the_end(url):
    response = await get(url, traceparent=PARENT)
    assert response.headers["X-Trace-Id"] == response.json()["trace_id"] == TRACE


@pytest.mark.parametrize("url", ["/sync", "/async", "/stream"])
async def test_requests_that_say_nothing_get_traces_of_their_own(url):
    with bound(trace_id=TRACE):
        responses = await asyncio.gather(get(url), get(url, traceparent="nonsense"))
    ids = {response.headers["X-Trace-Id"] for response in responses}
    assert ids == {response.json()["trace_id"] for response in responses}
    assert len(ids | {TRACE}) == 3


def test_without_the_wrapper_the_middleware_does_it_alone():
    with bound(trace_id="ab" * 16):
        response = Client().get("/sync", headers={"traceparent": PARENT})
        assert response.headers["X-Trace-Id"] == response.json()["trace_id"] == TRACE
        other = Client().get("/sync")
        assert other.headers["X-Trace-Id"] not in (TRACE, "ab" * 16)
        assert current()["trace_id"] == "ab" * 16


async def test_the_log_tells_how_a_request_ended(lines):
    await get("/sync?q=private", traceparent=PARENT)
    [line] = lines()
    assert line["message"] == "GET /sync 200"
    assert (line["trace_id"], line["status"]) == (TRACE, 200)
    assert line["ms"] > 0


async def test_what_machines_ask_all_the_time_is_not_told(lines):
    await get("/quiet")
    assert lines() == []


async def test_what_is_logged_after_the_middleware_has_returned_is_in_the_trace_too(lines):
    await get("/nosuch", traceparent=PARENT)
    by_logger = {line["logger"]: line for line in lines()}
    assert by_logger["django.request"]["message"] == "Not Found: /nosuch"
    assert {line["trace_id"] for line in by_logger.values()} == {TRACE}


async def test_a_crash_is_found_by_what_the_page_shows(lines):
    response = await get("/crash", traceparent=PARENT)
    assert response.status_code == 500
    assert response.headers["X-Trace-Id"] == TRACE
    assert TRACE in response.text
    [line] = [line for line in lines() if line["level"] == "ERROR"]
    assert line["trace_id"] == TRACE
    assert "RuntimeError" in line["exception"]
    assert "hunter2" not in json.dumps(lines())


async def test_a_socket_has_a_trace_as_well():
    seen = []

    async def socket(scope, receive, send):
        seen.append(current()["trace_id"])

    headers = [(b"traceparent", PARENT.encode())]
    await traced(socket)({"type": "websocket", "headers": headers}, None, None)
    await traced(socket)({"type": "websocket", "headers": []}, None, None)
    assert seen[0] == TRACE
    assert len(set(seen)) == 2
