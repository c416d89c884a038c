"""The operators' pages: what they show, what their buttons do, and who is let in."""

import json
import re

import pytest
from channels.db import database_sync_to_async as in_thread
from channels.testing import WebsocketCommunicator
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from glossary_site.asgi import application
from glossary_site.jobs.choices import State
from glossary_site.jobs.models import AuditEntry, JobDefinition, JobLog, JobRun, Worker
from glossary_site.jobs.news import OPERATIONS
from glossary_site.jobs.services.definitions import create_definition
from glossary_site.jobs.services.logs import move_old_logs
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.jobs.services.transitions import make_next_attempt
from glossary_site.live.services import publish
from tests.jobs.scene import (
    NODE,
    ago,
    changed,
    ended,
    failed,
    lead,
    make_node,
    make_operator,
    make_watcher,
    running,
    waiting,
)
from tests.live.sockets import HOST, OURS, cookie_of, frame

HTMX = {"HX-Request": "true"}


def without_tokens(text: str) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)


@pytest.fixture
def watcher(db, sign_in):
    return sign_in(make_watcher())


@pytest.fixture
def operator(db, sign_in):
    return sign_in(make_operator())


class TestDoors:
    def test_only_those_who_may_watch_see_the_pages_and_the_way_to_them(
        self, owner, sign_in, watcher
    ):
        link = 'href="/operations/"'
        outside = sign_in(owner)
        refused = outside.get(reverse("operations"))
        assert refused.status_code == 403
        assert "An administrator can give permissions." in refused.text
        assert link not in outside.get("/").text
        assert link in watcher.get("/").text
        assert watcher.get(reverse("operations")).status_code == 200

    def test_who_only_watches_gets_no_buttons_and_can_do_nothing(self, watcher):
        run = waiting()
        make_node()
        for name, args in (("operations", []), ("job", [run.pk]), ("definition-list", [])):
            page = watcher.get(reverse(name, args=args)).text
            assert 'method="post"' not in page.partition('id="main"')[2]
        assert watcher.post(reverse("job-cancel", args=[run.pk])).status_code == 403
        assert changed(run).state == State.PENDING


class TestOverview:
    def test_says_what_runs_what_waits_and_why(self, operator):
        node = make_node()
        lead()
        run = changed(
            running("work.slog", worker=node["long"]),
            progress_current=3,
            progress_total=8,
            progress_message="chapter three",
        )
        waiting("work.slog", since=300)
        failed(error="<b>ouch</b>")
        page = operator.get(reverse("operations")).text
        assert "Long work: 1 worker is busy, the only one; the oldest job has waited 5 min." in page
        assert 'value="3" max="8"' in page
        assert "3 / 8 · chapter three" in page
        assert reverse("job", args=[run.pk]) in page
        assert "&lt;b&gt;ouch&lt;/b&gt;" in page
        assert NODE in page
        assert "epoch 3" in page

    def test_nothing_at_all_says_what_to_do(self, operator):
        page = operator.get(reverse("operations")).text
        assert "No worker is running: start one with “manage.py worker”." in page
        assert "No definition runs by the clock." in page

    def test_quiet_is_said_to_be_quiet(self, operator):
        make_node()
        lead()
        assert "All is quiet" in operator.get(reverse("operations")).text

    def test_the_part_that_live_news_refresh_is_the_part_of_the_page(self, operator):
        run = running()
        make_node()
        lead()
        for address in (
            reverse("operations"),
            reverse("job-list"),
            reverse("job", args=[run.pk]),
            reverse("definition-list"),
        ):
            whole = operator.get(address)
            part = operator.get(address, headers=HTMX).text
            assert 'hx-trigger="live:operations from:body' in part
            assert "<html" not in part
            # Times may have moved on by a second between the two.
            still = re.compile(r"\d+ (s|min)\b")
            assert still.sub("", without_tokens(part)).strip() in still.sub(
                "", without_tokens(whole.text)
            )

    def test_the_page_continues_the_feed_where_it_was_made(self, operator):
        number = publish(OPERATIONS, "operations.changed", {})
        page = operator.get(reverse("operations")).text
        assert f'data-live-after="{number}"' in page
        assert 'data-live-url="/ws/operations/"' in page

    def test_what_keeps_its_focus_or_stays_open_has_a_name_for_it(self, operator):
        """htmx finds the focused element again by its id, site.js what was unfolded."""
        node = make_node()
        lead()
        running(worker=node["short"])
        failed()
        part = operator.get(reverse("operations"), headers=HTMX).text
        for tag in re.findall(r"<(?:a|summary|details|button)\b[^>]*>", part):
            in_confirmation = "button-primary" in tag
            assert in_confirmation or re.search(r'\bid="', tag), tag


class TestDraining:
    def test_a_node_is_drained_and_put_back(self, operator):
        make_node()
        page = operator.post(reverse("node-drain"), {"node": NODE}, follow=True)
        assert "takes nothing new" in page.text
        assert set(Worker.objects.values_list("draining", flat=True)) == {True}
        assert "Put back" in page.text
        operator.post(reverse("node-undrain"), {"node": NODE})
        assert set(Worker.objects.values_list("draining", flat=True)) == {False}
        assert AuditEntry.objects.filter(actor="oprah", action="drain").count() == 3

    @pytest.mark.parametrize("node", ["", "nowhere", "a\0b"])
    def test_a_node_that_is_not_there(self, operator, node):
        page = operator.post(reverse("node-drain"), {"node": node}, follow=True)
        assert "No worker is running on the node" in page.text


class TestList:
    def found(self, client, **query) -> list[JobRun]:
        return list(client.get(reverse("job-list"), query).context["listing"].page)

    def test_filters(self, watcher):
        note = waiting("work.note", scope="project:7")
        slog = running("work.slog")
        lost = failed(error="disk full")
        definition = create_definition(
            actor="tests", name="nightly", kind="work.note", cron="17 3 * * *"
        )
        done = changed(ended("work.nap"), definition=definition)
        assert self.found(watcher) == [done, lost, slog, note]
        assert self.found(watcher, state="active") == [slog, note]
        assert self.found(watcher, state="waiting") == [note]
        assert self.found(watcher, state="failed") == [lost]
        assert self.found(watcher, kind="work.slog") == [slog]
        assert self.found(watcher, lane="long") == [slog]
        assert self.found(watcher, scope="project:7") == [note]
        assert self.found(watcher, origin="definitions") == [done]
        assert done not in self.found(watcher, origin="asked")
        assert self.found(watcher, q="DISK") == [lost]
        assert self.found(watcher, q=f"#{note.pk}") == [note]
        assert self.found(watcher, q="\0nothing like it") == []
        assert self.found(watcher, state="nonsense", q="work.nap") == [done]
        assert "No job matches" in watcher.get(reverse("job-list"), {"q": "zzz"}).text

    def test_sorts_and_keeps_to_fifty_on_a_page(self, watcher):
        runs = [waiting() for _ in range(51)]
        first = self.found(watcher)
        assert (len(first), first[0]) == (50, runs[-1])
        assert self.found(watcher, page="2") == [runs[0]]
        assert self.found(watcher, sort="id")[0] == runs[0]

    def test_nothing_yet(self, watcher):
        assert "No jobs yet" in watcher.get(reverse("job-list")).text

    def test_the_number_of_queries_does_not_grow(self, watcher):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                watcher.get(reverse("job-list"))
            return len(captured)

        waiting()
        one = queries()
        for _ in range(9):
            failed(scope="project:7")
        assert queries() == one <= 8


class TestRun:
    def page(self, client, run, **query):
        return client.get(reverse("job", args=[run.pk]), query)

    def test_shows_its_facts_and_every_attempt(self, operator):
        first = failed(error="ValueError: first")
        second = make_next_attempt(first)
        page = self.page(operator, second)
        assert page.context["attempts"] == [first, second]
        assert "It waits for its retry in" in page.text
        assert "ValueError: first" in page.text
        assert 'href="' + reverse("job", args=[first.pk]) in page.text
        assert self.page(operator, first).context["attempts"] == [first, second]

    def test_payload_and_result_are_shown_as_text(self, operator):
        run = changed(ended(), payload={"path": "<script>"}, result={"lines": 3})
        page = self.page(operator, run).text
        assert "&lt;script&gt;" in page
        assert "&quot;lines&quot;: 3" in page

    def test_an_unknown_one(self, operator):
        assert operator.get(reverse("job", args=[999_999])).status_code == 404

    def test_cancel(self, operator):
        run = running()
        page = operator.post(reverse("job-cancel", args=[run.pk]), follow=True)
        assert f"Job {run.pk} is cancelled." in page.text
        assert changed(run).state == State.CANCELED
        assert "Cancelled by oprah." in page.text
        assert "<strong>oprah</strong> · cancel" in page.text
        again = operator.post(reverse("job-cancel", args=[run.pk]), follow=True)
        assert f"Job {run.pk} has ended already: Cancelled." in again.text

    def test_retry_makes_the_next_attempt_and_goes_there(self, operator):
        run = failed()
        page = operator.post(reverse("job-retry", args=[run.pk]), follow=True)
        attempt = JobRun.objects.get(retry_of=run)
        assert page.redirect_chain[-1][0] == reverse("job", args=[attempt.pk])
        assert f"It is tried again now, as job {attempt.pk}." in page.text
        refused = operator.post(reverse("job-retry", args=[ended().pk]), follow=True)
        assert "cannot be tried again" in refused.text

    def test_buttons_are_there_where_they_make_a_difference(self, operator):
        def offered(run) -> tuple[bool, bool]:
            context = self.page(operator, run).context
            return context["can_cancel"], context["can_retry"]

        assert offered(waiting()) == (True, False)
        assert offered(waiting(due_in=60)) == (True, True)
        assert offered(running()) == (True, False)
        assert offered(ended()) == (False, False)
        lost = failed()
        assert offered(lost) == (False, True)
        cancelled = cancel_run(waiting(), actor="tests")
        assert offered(cancelled) == (False, True)
        attempt = make_next_attempt(lost)
        assert offered(lost) == (False, True)  # the pause can be cut short
        changed(attempt, due_at=ago(seconds=1))
        assert offered(lost) == (False, False)


class TestLog:
    def lines(self, response) -> list[str]:
        return re.findall(r'class="log-message">([^<]*)<', response.text)

    def log(self, run, *messages: str) -> None:
        for message in messages:
            JobLog.objects.create(run=run, message=message)

    def test_shows_the_end_and_what_comes_after_it(self, watcher):
        run = running()
        self.log(run, *(f"line {n}" for n in range(205)))
        page = watcher.get(reverse("job", args=[run.pk]))
        assert self.lines(page)[0] == "line 5"
        assert self.lines(page)[-1] == "line 204"
        assert "From the beginning" in page.text
        follow = re.search(r'class="log-end" hx-get="([^"]+)"', page.text)[1]
        assert self.lines(watcher.get(follow)) == []
        self.log(run, "one <more>")
        more = watcher.get(follow)
        assert self.lines(more) == ["one &lt;more&gt;"]
        follow = re.search(r'class="log-end" hx-get="([^"]+)"', more.text)[1]
        assert self.lines(watcher.get(follow)) == []

    def test_pages_from_the_beginning(self, watcher):
        run = running()
        self.log(run, *(f"line {n}" for n in range(205)))
        first = watcher.get(reverse("job", args=[run.pk]), {"after": "0"})
        assert (self.lines(first)[0], len(self.lines(first))) == ("line 0", 200)
        assert "log-end" not in first.text
        following = re.search(r'id="log-next" href="\?after=(\d+)', first.text)[1]
        second = watcher.get(reverse("job", args=[run.pk]), {"after": following})
        assert self.lines(second) == [f"line {n}" for n in range(200, 205)]
        assert "log-next" not in second.text

    def test_a_log_that_was_moved_to_a_file_reads_the_same(self, watcher, settings, tmp_path):
        settings.DATA_DIR = tmp_path
        run = changed(ended(), created_at=ago(days=99), finished_at=ago(days=99))
        self.log(run, *(f"line {n}" for n in range(205)))
        before = self.lines(watcher.get(reverse("job", args=[run.pk])))
        assert move_old_logs(days=30) == 1
        assert not JobLog.objects.exists()
        after = watcher.get(reverse("job", args=[run.pk]))
        assert self.lines(after) == before
        assert len(before) == 200
        JobRun.objects.update(log_ref="000000/1-0000000000000000.jsonl.gz")
        assert "missing or damaged" in watcher.get(reverse("job", args=[run.pk])).text


class TestDefinitions:
    @pytest.fixture
    def definition(self, db) -> JobDefinition:
        return create_definition(
            actor="tests", name="nightly notes", kind="work.note", cron="17 3 * * *"
        )

    def test_switched_off_and_on(self, operator, definition):
        address = reverse("definition-switch", args=[definition.pk])
        page = operator.post(address, {"enabled": "off"}, follow=True)
        definition.refresh_from_db()
        assert not definition.enabled
        assert "“nightly notes” is switched off." in page.text
        operator.post(address, {"enabled": "on"})
        definition.refresh_from_db()
        assert definition.enabled

    def test_run_now_goes_to_the_job(self, operator, definition):
        address = reverse("definition-run", args=[definition.pk])
        page = operator.post(address, follow=True)
        run = JobRun.objects.get(definition=definition)
        assert page.redirect_chain[-1][0] == reverse("job", args=[run.pk])
        refused = operator.post(address, follow=True)
        assert f"is at work already: job {run.pk}" in refused.text
        assert f"#{run.pk}" in refused.text  # its last run, in the list

    def test_the_number_of_queries_does_not_grow(self, operator, definition):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                operator.get(reverse("definition-list"))
            return len(captured)

        changed(ended(), definition=definition)
        one = queries()
        for number in range(5):
            other = create_definition(actor="tests", name=str(number), kind="work.note")
            changed(ended(), definition=other)
        assert queries() == one <= 9


@pytest.mark.django_db(transaction=True)
class TestSocket:
    def socket(self, cookie: bytes) -> WebsocketCommunicator:
        headers = [(b"host", HOST), (b"origin", OURS), (b"cookie", cookie)]
        return WebsocketCommunicator(application, "/ws/operations/", headers=headers)

    async def test_tells_watchers_that_something_changed(self):
        user = await in_thread(make_watcher)()
        socket = self.socket(await in_thread(cookie_of)(user))
        assert (await socket.connect(timeout=10))[0]
        snapshot = await frame(socket)
        assert snapshot["type"] == "snapshot"
        await in_thread(publish)(OPERATIONS, "operations.changed", {"epoch": 1})
        (event,) = (await frame(socket))["events"]
        assert (event["type"], event["number"]) == ("operations.changed", snapshot["number"] + 1)
        await socket.disconnect()
        await in_thread(connections.close_all)()

    async def test_refuses_others(self, owner):
        socket = self.socket(await in_thread(cookie_of)(owner))
        assert not (await socket.connect(timeout=10))[0]
        await in_thread(connections.close_all)()


def test_the_head_of_the_page_knows_its_words(operator):
    """live.js shows what the page gives it; a missing word would be the word “undefined”."""
    page = operator.get(reverse("operations")).text
    status = re.search(r'<div class="live"[^>]*>', page)[0]
    for state in ("connecting", "live", "reconnecting", "lost"):
        assert f'data-text-{state}="' in status
    assert json.loads(re.search(r'data-live-every="(\d+)"', status)[1]) == 10
