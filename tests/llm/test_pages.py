"""The pages about LLM processes."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from glossary_site.jobs.models import AuditEntry
from glossary_site.llm.choices import ProcessStatus
from glossary_site.llm.services.queue import consume
from tests.jobs.scene import make_operator, make_watcher
from tests.llm.working import enqueued, questions, reloaded, work_to_end

HTMX = {"HX-Request": "true"}


@pytest.fixture
def watcher(db, sign_in):
    return sign_in(make_watcher())


@pytest.fixture
def operator(db, sign_in):
    return sign_in(make_operator())


def address(process, name: str = "llm-process") -> str:
    return reverse(name, args=[process.pk])


class TestList:
    def found(self, client, **query) -> list:
        lines = client.get(reverse("llm-process-list"), query).context["lines"]
        return [line.process for line in lines]

    def test_filters(self, watcher):
        waiting = enqueued(questions(2), scope="project:7")
        ended = work_to_end(enqueued(questions(1)))
        assert self.found(watcher) == [ended, waiting]
        assert self.found(watcher, status="active") == [waiting]
        assert self.found(watcher, status="completed") == [ended]
        assert self.found(watcher, scope="project:7") == [waiting]
        assert self.found(watcher, q=str(ended.pk)) == [ended]
        assert self.found(watcher, q="gpt") == []
        assert "No process matches" in watcher.get("/operations/llm/", {"q": "gpt"}).text

    def test_nothing_yet(self, watcher):
        assert "No LLM processes yet" in watcher.get("/operations/llm/").text

    def test_the_number_of_queries_does_not_grow(self, watcher):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                watcher.get("/operations/llm/")
            return len(captured)

        enqueued(questions(1))
        one = queries()
        for _ in range(5):
            enqueued(questions(2), scope="project:7")
        assert queries() == one <= 11

    def test_counts_what_is_to_come(self, watcher):
        enqueued(questions(3))
        assert "0 in flight, 3 waiting" in watcher.get("/operations/llm/").text


class TestProcess:
    def test_why_requests_failed(self, watcher):
        process = work_to_end(enqueued(questions(3)))
        page = watcher.get(address(process)).text
        assert "Why requests failed" in page
        assert "The built-in engine cannot answer" in page
        with consume(process.pk) as results:
            list(results)
        page = watcher.get(address(process)).text
        assert "The answers were taken away, and the failed requests with them." in page

    def test_the_part_that_live_news_refresh_is_the_part_of_the_page(self, operator):
        process = enqueued(questions(1))
        for url in (address(process), reverse("llm-process-list")):
            part = operator.get(url, headers=HTMX).text
            assert "live:operations from:body, live:work from:body" in part
            assert "<html" not in part
            for tag in re.findall(r"<(?:summary|details)\b[^>]*>", part):
                assert " id=" in tag

    def test_who_only_watches_gets_no_buttons(self, watcher):
        process = enqueued(questions(1))
        assert 'method="post"' not in watcher.get(address(process)).text.partition('id="main"')[2]
        assert watcher.post(address(process, "llm-process-cancel")).status_code == 403

    def test_cancel(self, operator):
        process = enqueued(questions(2))
        page = operator.post(address(process, "llm-process-cancel"), follow=True)
        assert "The process is cancelled." in page.text
        assert reloaded(process).status == ProcessStatus.CANCELLED
        assert "<strong>oprah</strong> · cancel" in page.text
        again = operator.post(address(process, "llm-process-cancel"), follow=True)
        assert "has ended already" in again.text

    def test_retry_what_failed(self, operator):
        process = work_to_end(enqueued(questions(2)))
        page = operator.get(address(process))
        assert page.context["can_retry"]
        page = operator.post(address(process, "llm-process-retry"), follow=True)
        assert "The failed requests are sent again." in page.text
        assert reloaded(process).status == ProcessStatus.PENDING
        assert AuditEntry.objects.filter(action="retry", actor="oprah").exists()

    def test_an_unknown_one(self, watcher):
        unknown = reverse("llm-process", args=["00000000-0000-0000-0000-000000000000"])
        assert watcher.get(unknown).status_code == 404
