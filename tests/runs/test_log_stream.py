"""The log of a run, as programs listen to it under ASGI."""

import asyncio
import json
from contextlib import asynccontextmanager
from functools import partial

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import AsyncClient

from glossary_site.live import session
from glossary_site.live.services import publish_all
from glossary_site.people.services import create_token
from projects.access import OPERATOR
from projects.services.members import remove_member
from projects.services.projects import delete_project
from runs import news, streams
from runs.choices import Level
from runs.models import Run
from runs.services import logs
from runs.services.ending import begin, cancel, complete_if_not_cancelled, fail
from runs.services.logs import Line
from tests.api.conftest import committed  # noqa: F401 (a fixture)
from tests.factories import make_document
from tests.runs.working import start_run, work_on

pytestmark = pytest.mark.usefixtures("committed")

FORMAT = {
    "number",
    "time",
    "run_id",
    "level",
    "message",
    "step",
    "progress_current",
    "progress_total",
    "current_term",
}


class Listener:
    def __init__(self, response):
        self._chunks = aiter(response.streaming_content)
        self._text = ""

    async def block(self) -> dict[str, str]:
        """The next block, as its fields; a comment has the field “”."""
        while "\n\n" not in self._text:
            async with asyncio.timeout(10):
                self._text += (await anext(self._chunks)).decode()
        block, _end, self._text = self._text.partition("\n\n")
        return dict(line.split(": ", 1) for line in block.split("\n"))

    async def next(self) -> dict[str, str]:
        """The next event."""
        while True:
            fields = await self.block()
            if "data" in fields:
                return fields

    async def messages(self, count: int) -> list[str]:
        return [json.loads((await self.next())["data"])["message"] for _each in range(count)]

    async def is_at_its_end(self) -> bool:
        async with asyncio.timeout(10):
            return await anext(self._chunks, None) is None

    async def close(self) -> None:
        await self._chunks.aclose()


@asynccontextmanager
async def listen(run, user, query="", **headers):
    _token, secret = await sync_to_async(create_token)(user=user, name="tests")
    response = await AsyncClient().get(
        f"/api/projects/{run.project_id}/runs/{run.pk}/logs{query}",
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


@sync_to_async
def write(run, *messages, **fields):
    """As a step does: the lines, then the hint to look."""
    logs.write(run, [Line(message, **fields) for message in messages])
    news.progress(run)


@sync_to_async
def running(project) -> Run:
    make_document(project)
    run = start_run(project)
    assert begin(run)
    return run


@partial(sync_to_async, thread_sensitive=False)
def work_elsewhere(run) -> Run:
    try:
        return work_on(run)
    finally:
        connection.close()


async def test_everything_from_the_beginning_then_what_comes_then_the_end(project, viewer):
    run = await running(project)
    await write(run, "one", "two")
    async with listen(run, viewer) as listener:
        first = await listener.next()
        assert first["id"] == "1"
        assert set(json.loads(first["data"])) == FORMAT
        assert await listener.messages(2) == ["one", "two"]
        await write(run, "three", step="generate", current=5, total=20, term="berth")
        event = await listener.next()
        assert event["id"] == "4"
        told = json.loads(event["data"])
        assert {key: told[key] for key in FORMAT - {"number", "time"}} == {
            "run_id": run.pk,
            "level": "info",
            "message": "three",
            "step": "generate",
            "progress_current": 5,
            "progress_total": 20,
            "current_term": "berth",
        }
        assert await sync_to_async(complete_if_not_cancelled)(run)
        await listener.messages(1)
        end = await listener.next()
        assert end["event"] == "complete"
        assert json.loads(end["data"]) == {"run_id": run.pk, "status": "completed"}
        assert await listener.is_at_its_end()


async def test_a_whole_run_live(harbour, viewer):
    run = await sync_to_async(start_run)(harbour)
    async with listen(run, viewer) as listener:
        working = asyncio.create_task(work_elsewhere(run))
        seen = []
        while "event" not in (event := await listener.next()):
            seen.append(json.loads(event["data"]))
        assert json.loads(event["data"])["status"] == "completed"
        assert await listener.is_at_its_end()
    done = await working
    assert [line["number"] for line in seen] == list(range(1, done.log_count + 1))
    assert {line["step"] for line in seen} >= {"load", "extract", "generate", "review", "refine"}


async def test_who_comes_late_gets_all_of_it_and_the_end(project, viewer):
    run = await running(project)
    await write(run, *(f"line {number}" for number in range(streams.PAGE + 50)))
    await sync_to_async(cancel)(run, actor=OPERATOR)
    async with listen(run, viewer) as listener:
        numbers = [int((await listener.next())["id"]) for _each in range(streams.PAGE + 52)]
        assert numbers == list(range(1, streams.PAGE + 53))
        end = await listener.next()
        assert (end["event"], json.loads(end["data"])["status"]) == ("complete", "cancelled")
        assert await listener.is_at_its_end()


@pytest.mark.parametrize("way", ["query", "header", "both"])
async def test_going_on_after_a_number(project, viewer, way):
    run = await running(project)
    await write(run, "two", "three", "four")
    query = {"query": "?after=3", "header": "", "both": "?after=0"}[way]
    headers = {} if way == "query" else {"Last-Event-ID": "3"}
    async with listen(run, viewer, query, **headers) as listener:
        event = await listener.next()
        assert (event["id"], json.loads(event["data"])["message"]) == ("4", "four")


async def test_a_reconnection_after_the_last_line_gets_the_end_alone(project, viewer):
    run = await running(project)
    await sync_to_async(complete_if_not_cancelled)(run)
    await sync_to_async(run.refresh_from_db)()
    async with listen(run, viewer, **{"Last-Event-ID": str(run.log_count)}) as listener:
        assert (await listener.next())["event"] == "complete"
        assert await listener.is_at_its_end()


async def test_one_that_ends_while_somebody_connects_is_told_to_have_ended(
    project, viewer, monkeypatch
):
    """Between the look at the rows and the listening nothing falls through: the end comes just
    after the first look here."""
    run = await running(project)
    look = streams.log_page
    looks = []

    def look_and_end(*arguments):
        page = look(*arguments)
        if not looks:
            complete_if_not_cancelled(run)
        looks.append(page)
        return page

    monkeypatch.setattr(streams, "log_page", look_and_end)
    async with listen(run, viewer) as listener:
        await listener.messages(2)
        assert (await listener.next())["event"] == "complete"
    assert not looks[0].ended


async def test_what_happens_elsewhere_in_the_project_costs_no_look(project, viewer, monkeypatch):
    run = await running(project)
    look = streams.log_page
    looks = []
    monkeypatch.setattr(streams, "log_page", lambda *a: looks.append(a) or look(*a))
    async with listen(run, viewer) as listener:
        await listener.messages(1)
        waiting = asyncio.create_task(listener.messages(1))
        # Long enough for the news to get here, before and after.
        await asyncio.sleep(0.5)
        before = len(looks)
        noise = [("index.changed", {"document": n}) for n in range(20)]
        noise.append((news.PROGRESS, {"run_id": run.pk + 1}))
        await sync_to_async(publish_all)(project.stream, noise)
        await asyncio.sleep(0.5)
        assert len(looks) == before
        await write(run, "ours")
        assert await waiting == ["ours"]


async def test_a_quiet_run_shows_that_it_lives(project, viewer, monkeypatch):
    monkeypatch.setattr(session, "KEEPALIVE_SECONDS", 0.05)
    run = await running(project)
    async with listen(run, viewer) as listener:
        assert await listener.block() == {"retry": "2000"}
        await listener.messages(1)
        assert await listener.block() == {"": "alive"}


@pytest.mark.parametrize("ours", [True, False], ids=["its progress", "others"])
async def test_it_lives_also_where_the_feed_is_busy(project, viewer, monkeypatch, ours):
    """Documents are read for minutes, with progress and without a line; or somebody else is at
    work. Whoever stands between would take a silent stream for dead."""
    monkeypatch.setattr(session, "KEEPALIVE_SECONDS", 0.3)
    run = await running(project)
    async with listen(run, viewer) as listener:
        await listener.messages(1)
        alive = asyncio.create_task(listener.block())
        noise = (news.PROGRESS, {"run_id": run.pk}) if ours else ("index.changed", {"document": 1})
        for _each in range(50):
            await sync_to_async(publish_all)(project.stream, [noise])
            await asyncio.sleep(0.05)
            if alive.done():
                break
        assert alive.done()
        assert alive.result() == {"": "alive"}


async def test_no_traceback_leaves_the_house(project, viewer):
    run = await running(project)
    try:
        raise RuntimeError("/srv/secret/place")
    except RuntimeError as error:
        await sync_to_async(fail)(run, "It did not work.", error=error)
    async with listen(run, viewer) as listener:
        await listener.messages(1)
        event = await listener.next()
        line = json.loads(event["data"])
        assert (line["level"], line["message"]) == (Level.ERROR, "It did not work.")
        assert "secret" not in event["data"]
        assert "Traceback" not in event["data"]
        assert (await listener.next())["event"] == "complete"


async def test_somebody_taken_out_is_cut_off(project, owner, viewer):
    run = await running(project)
    async with listen(run, viewer) as listener:
        await listener.messages(1)
        membership = await sync_to_async(project.memberships.get)(user=viewer)
        await sync_to_async(remove_member)(membership=membership, actor=owner)
        await write(run, "secret")
        assert (await listener.next())["event"] == "access_lost"
        assert await listener.is_at_its_end()


async def test_a_project_that_is_deleted_ends_its_streams(project, owner, viewer):
    run = await running(project)
    async with listen(run, viewer) as listener:
        await listener.messages(1)
        await sync_to_async(delete_project)(project=project, actor=owner)
        while (event := await listener.next()).get("event") is None:
            pass
        assert event["event"] == "access_lost"
        assert await listener.is_at_its_end()


async def test_a_page_listens_with_its_session(project, viewer):
    run = await running(project)
    client = AsyncClient()
    await client.aforce_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    response = await client.get(
        f"/api/projects/{project.pk}/runs/{run.pk}/logs", headers={"Accept": "text/event-stream"}
    )
    listener = Listener(response)
    assert await listener.messages(1)
    await listener.close()
