"""The websocket: snapshot, events, reconnection and who is let in."""

import asyncio

import pytest
from channels.db import database_sync_to_async as in_thread
from channels.testing import WebsocketCommunicator

from glossary_site.asgi import application
from glossary_site.live import hub as hub_module
from glossary_site.live.models import Event
from glossary_site.live.services import prune_events, publish, publish_all
from glossary_site.people.models import User
from glossary_site.people.services import create_token, revoke_token
from projects.choices import Role
from projects.models import Membership
from projects.services.members import change_role, remove_member
from projects.services.projects import delete_project
from tests.live.sockets import HOST, OURS, connected, cookie_of, events, frame, socket

pytestmark = pytest.mark.django_db(transaction=True)


def tell(project, *numbers):
    publish_all(project.stream, [("test.tick", {"n": n}) for n in numbers])


def membership_of(user) -> Membership:
    return Membership.objects.select_related("project", "user").get(user=user)


async def test_a_new_reader_gets_a_snapshot_then_what_happens(project, viewer):
    async with connected(project, viewer) as reader:
        snapshot = await frame(reader)
        assert snapshot["type"] == "snapshot"
        assert snapshot["project"] == {"id": project.pk, "name": "Harbour"}
        await in_thread(tell)(project, 1)
        (event,) = await events(reader, 1)
        assert event["number"] == snapshot["number"] + 1
        assert (event["type"], event["payload"]) == ("test.tick", {"n": 1})


async def test_a_returning_reader_gets_what_it_missed_once_and_in_order(project, viewer):
    async with connected(project, viewer) as reader:
        number = (await frame(reader))["number"]
    await in_thread(tell)(project, *range(700))  # more than one page of the table
    async with connected(project, viewer, after=number) as reader:
        await in_thread(tell)(project, 700)
        received = await events(reader, 701)
    assert [event["payload"]["n"] for event in received] == list(range(701))
    assert [event["number"] for event in received] == list(range(number + 1, number + 702))


async def test_events_written_while_readers_connect_are_neither_lost_nor_doubled(project, viewer):
    total = 60

    async def write():
        for n in range(total):
            await in_thread(tell)(project, n)

    await in_thread(publish)(project.stream, "test.start", {})
    start = await in_thread(lambda: Event.objects.filter(type="test.start").get().number)()
    assert start == 2  # after project.created
    writing = asyncio.create_task(write())

    async def read(delay: float) -> list[int]:
        await asyncio.sleep(delay)
        async with connected(project, viewer, after=start) as reader:
            return [event["payload"]["n"] for event in await events(reader, total)]

    readers = [asyncio.create_task(read(delay)) for delay in (0, 0.02, 0.05, 0.1, 0.2)]
    await writing
    for reader in readers:
        assert await reader == list(range(total))


async def test_a_number_too_old_to_replay_gives_a_snapshot(project, viewer):
    await in_thread(tell)(project, 1, 2, 3)
    await in_thread(prune_events)(days=-1)
    async with connected(project, viewer, after=1) as reader:
        assert (await frame(reader))["type"] == "snapshot"


async def test_a_number_from_the_future_gives_a_snapshot(project, viewer):
    async with connected(project, viewer, after=999) as reader:
        assert (await frame(reader))["type"] == "snapshot"


async def test_a_slow_reader_is_sent_to_the_table_and_misses_nothing(project, viewer, monkeypatch):
    monkeypatch.setattr(hub_module, "BACKLOG", 3)
    feed = hub_module.follow(project.stream, 1, keepalive=5)
    first = asyncio.create_task(anext(feed))
    await in_thread(tell)(project, 0)
    seen = [event["payload"]["n"] for event in (await first).events]
    for n in range(1, 20):  # nobody takes these from the subscription
        await in_thread(tell)(project, n)
        await asyncio.sleep(0.03)
    while len(seen) < 20:
        batch = await anext(feed)
        assert batch is not None
        seen += [event["payload"]["n"] for event in batch.events]
    await feed.aclose()
    assert seen == list(range(20))


async def test_the_tailer_rests_when_nobody_listens(project, viewer):
    async with connected(project, viewer) as reader:
        await frame(reader)
        assert hub_module.hub()._tailer is not None
    assert hub_module.hub()._tailer is None


class TestWhoIsLetIn:
    @pytest.mark.parametrize(
        "options",
        [
            {"origin": b"https://elsewhere.example"},
            {"origin": b"http://127.0.0.1:9999"},
            {"origin": None},
            {"host": b"elsewhere.example", "origin": b"http://elsewhere.example"},
        ],
        ids=["foreign origin", "other port", "no origin and no token", "foreign host"],
    )
    async def test_a_foreign_page_is_refused_even_with_a_members_cookie(
        self, project, viewer, options
    ):
        cookie = await in_thread(cookie_of)(viewer)
        accepted, _ = await socket(project, cookie=cookie, **options).connect(timeout=10)
        assert not accepted

    async def test_where_cookies_need_tls_a_page_without_it_is_foreign(
        self, project, viewer, settings
    ):
        cookie = await in_thread(cookie_of)(viewer)
        settings.SESSION_COOKIE_SECURE = True
        assert not (await socket(project, cookie=cookie).connect(timeout=10))[0]
        reader = socket(project, cookie=cookie, origin=b"https://127.0.0.1:8000")
        assert (await reader.connect(timeout=10))[0]
        await reader.disconnect()

    async def test_the_anonymous_and_outsiders_are_refused(self, project, outsider):
        assert not (await socket(project).connect(timeout=10))[0]
        cookie = await in_thread(cookie_of)(outsider)
        assert not (await socket(project, cookie=cookie).connect(timeout=10))[0]

    async def test_an_unknown_address_is_refused(self, db):
        headers = [(b"host", HOST), (b"origin", OURS)]
        nowhere = WebsocketCommunicator(application, "/ws/nowhere/", headers=headers)
        assert not (await nowhere.connect(timeout=10))[0]

    async def test_a_program_with_a_members_token_is_let_in(self, project, viewer, outsider):
        _, secret = await in_thread(create_token)(user=viewer, name="bot")
        reader = socket(project, origin=None, token=secret)
        assert (await reader.connect(timeout=10))[0]
        assert (await frame(reader))["type"] == "snapshot"
        await reader.disconnect()
        _, foreign = await in_thread(create_token)(user=outsider, name="bot")
        assert not (await socket(project, origin=None, token=foreign).connect(timeout=10))[0]
        assert not (await socket(project, origin=None, token="gls_wrong").connect(timeout=10))[0]


class TestWhoIsCutOff:
    async def closed(self, reader) -> int:
        while True:
            message = await reader.receive_output(timeout=10)
            if message["type"] == "websocket.close":
                return message["code"]
            assert "secret" not in message.get("text", "")

    async def test_a_removed_member_hears_nothing_more(self, project, viewer):
        membership = await in_thread(membership_of)(viewer)
        async with connected(project, viewer) as reader:
            await frame(reader)

            def remove_and_talk():
                remove_member(membership=membership, actor=viewer)
                publish(project.stream, "test.secret", {})

            await in_thread(remove_and_talk)()
            assert await self.closed(reader) == 4403

    async def test_a_changed_role_keeps_the_socket(self, project, viewer):
        membership = await in_thread(membership_of)(viewer)
        async with connected(project, viewer) as reader:
            await frame(reader)
            await in_thread(change_role)(membership=membership, role=Role.EDITOR, actor=viewer)
            (event,) = await events(reader, 1)
            assert event["type"] == "member.changed"

    async def test_readers_of_a_deleted_project_are_let_go(self, project, viewer, owner):
        async with connected(project, viewer) as reader:
            await frame(reader)
            await in_thread(delete_project)(project=project, actor=owner)
            assert await self.closed(reader) == 4403

    async def test_a_revoked_token_ends_with_the_next_quiet_moment(
        self, project, viewer, monkeypatch
    ):
        monkeypatch.setattr("glossary_site.live.session.KEEPALIVE_SECONDS", 0.2)
        token, secret = await in_thread(create_token)(user=viewer, name="bot")
        reader = socket(project, origin=None, token=secret)
        await reader.connect(timeout=10)
        await frame(reader)
        assert (await frame(reader))["type"] == "alive"
        await in_thread(revoke_token)(user=viewer, token_id=token.pk)
        assert await self.closed(reader) == 4403

    async def test_a_closed_account_ends_on_a_busy_feed_too(self, project, viewer, monkeypatch):
        monkeypatch.setattr("glossary_site.live.session.KEEPALIVE_SECONDS", 0.5)
        async with connected(project, viewer) as reader:
            await frame(reader)
            await in_thread(User.objects.filter(pk=viewer.pk).update)(is_active=False)
            heard = []
            for _ in range(50):
                # More often than the feed would have to be quiet.
                await in_thread(publish)(project.stream, "test.noise", {})
                await asyncio.sleep(0.05)
                heard.append(await reader.receive_output(timeout=10))
                if heard[-1]["type"] == "websocket.close":
                    break
            assert heard[-1] == {"type": "websocket.close", "code": 4403}
