"""The feed of a project, read in pages and listened to."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from glossary_site.live.models import Event, Stream
from glossary_site.live.services import publish, publish_all
from glossary_site.people.services import create_token
from projects.services.members import remove_member
from projects.services.projects import delete_project


@pytest.fixture
def url(project):
    return f"/api/projects/{project.pk}/events"


def test_what_happened_after_a_number(as_viewer, project, url):
    publish_all(project.stream, [("test.tick", {"n": n}) for n in range(3)])
    body = as_viewer.get(url).json()
    assert [event["number"] for event in body["events"]] == [1, 2, 3, 4]
    assert (body["last"], body["pruned"]) == (4, 0)
    body = as_viewer.get(f"{url}?after=2&limit=1").json()
    (event,) = body["events"]
    assert (event["number"], event["type"], event["payload"]) == (3, "test.tick", {"n": 1})
    assert event["time"].startswith("20")
    assert body["last"] == 4
    assert as_viewer.get(f"{url}?after=4").json()["events"] == []


def test_a_page_has_at_most_five_hundred(as_viewer, project, url, django_assert_max_num_queries):
    publish_all(project.stream, [("test.tick", {}) for _each in range(600)])
    for query in ("", "?limit=500", "?limit=100000"):
        assert len(as_viewer.get(url + query).json()["events"]) == 500
    with django_assert_max_num_queries(6):
        as_viewer.get(url)


def test_a_reader_is_told_what_is_no_longer_kept(as_viewer, project, url):
    publish_all(project.stream, [("test.tick", {}) for _each in range(5)])
    Event.objects.filter(number__lte=4).delete()
    Stream.objects.update(pruned_number=4)
    body = as_viewer.get(f"{url}?after=1").json()
    assert [event["number"] for event in body["events"]] == [5, 6]
    assert (body["last"], body["pruned"]) == (6, 4)


@pytest.mark.parametrize(
    "query",
    [
        *(
            f"{tail}?after={number}"
            for tail in ("", "/stream")
            for number in ("x", -1, 2**63, "%00")
        ),
        "?limit=0",
        "?limit=x",
    ],
)
def test_a_number_that_is_none(as_viewer, url, query):
    response = as_viewer.get(f"{url}{query}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid")


listening = pytest.mark.usefixtures("committed")


class Listener:
    def __init__(self, response):
        self._chunks = aiter(response.streaming_content)
        self._text = ""

    async def next(self) -> dict[str, str]:
        """The next event, as its fields."""
        while True:
            while "\n\n" not in self._text:
                async with asyncio.timeout(10):
                    self._text += (await anext(self._chunks)).decode()
            block, _end, self._text = self._text.partition("\n\n")
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            if "event" in fields:
                return fields

    async def close(self) -> None:
        await self._chunks.aclose()

    async def is_at_its_end(self) -> bool:
        async with asyncio.timeout(10):
            return await anext(self._chunks, None) is None


@asynccontextmanager
async def listen(project, user, query="", **headers):
    _token, secret = await sync_to_async(create_token)(user=user, name="tests")
    response = await AsyncClient().get(
        f"/api/projects/{project.pk}/events/stream{query}",
        headers={"Authorization": f"Bearer {secret}", **headers},
    )
    assert response.status_code == 200
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-cache"
    listener = Listener(response)
    try:
        yield listener
    finally:
        await listener.close()


async def tell(project, *numbers):
    news = [("test.tick", {"n": n}) for n in numbers]
    await sync_to_async(publish_all)(project.stream, news)


@listening
async def test_a_snapshot_then_what_happens(project, viewer):
    async with listen(project, viewer) as listener:
        first = await listener.next()
        assert first["event"] == "snapshot"
        picture = json.loads(first["data"])
        assert picture["project"] == {"id": project.pk, "name": "Harbour"}
        await tell(project, 1)
        event = await listener.next()
        assert int(event["id"]) == picture["number"] + 1
        assert event["event"] == "test.tick"
        assert json.loads(event["data"])["payload"] == {"n": 1}


@listening
@pytest.mark.parametrize("way", ["query", "header", "both"])
async def test_going_on_after_a_number(project, viewer, way):
    await tell(project, 1, 2, 3)
    query = {"query": "?after=2", "header": "", "both": "?after=0"}[way]
    headers = {} if way == "query" else {"Last-Event-ID": "2"}
    async with listen(project, viewer, query, **headers) as listener:
        for number in (3, 4):
            event = await listener.next()
            assert (event["event"], event["id"]) == ("test.tick", str(number))


@listening
async def test_a_header_that_is_no_number_means_from_now(project, viewer):
    async with listen(project, viewer, **{"Last-Event-ID": "x"}) as listener:
        assert (await listener.next())["event"] == "snapshot"


@listening
async def test_somebody_taken_out_is_cut_off(project, owner, viewer):
    async with listen(project, viewer) as listener:
        await listener.next()
        membership = await sync_to_async(project.memberships.get)(user=viewer)
        await sync_to_async(remove_member)(membership=membership, actor=owner)
        await sync_to_async(publish)(project.stream, "test.secret", {})
        assert (await listener.next())["event"] == "access_lost"
        assert await listener.is_at_its_end()


@listening
async def test_a_project_that_is_deleted_ends_its_stream(project, owner, viewer):
    async with listen(project, viewer) as listener:
        await listener.next()
        await sync_to_async(delete_project)(project=project, actor=owner)
        assert (await listener.next())["event"] == "access_lost"
        assert await listener.is_at_its_end()


@listening
async def test_a_page_listens_with_its_session(project, viewer):
    client = AsyncClient()
    await client.aforce_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    response = await client.get(f"/api/projects/{project.pk}/events/stream")
    listener = Listener(response)
    assert (await listener.next())["event"] == "snapshot"
    await listener.close()
