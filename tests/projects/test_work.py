"""The background work of a project, as its members see it."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from glossary_site.jobs.choices import State
from glossary_site.jobs.models import AuditEntry, JobRun
from glossary_site.live.models import Event
from glossary_site.llm.choices import ProcessStatus
from projects.work import work_of
from tests import factories
from tests.jobs.scene import changed, failed, lead, make_node, running, waiting
from tests.llm.working import enqueued, questions, reloaded, work_to_end

HTMX = {"HX-Request": "true"}


def address(project, name: str = "project-work", *args) -> str:
    return reverse(name, args=[project.pk, *args])


class TestPage:
    def test_shows_the_work_of_this_project_and_of_no_other(self, project, viewer, sign_in):
        make_node()
        lead()
        run = changed(
            running(scope=project.stream),
            progress_current=2,
            progress_total=5,
            progress_message="chapter two",
        )
        lost = failed(scope=project.stream, error="<ouch>")
        waiting(scope="project:999", kind="work.nap")
        waiting(kind="work.slog")
        page = sign_in(viewer).get(address(project))
        assert page.context["work"].active == [run]
        assert page.context["work"].ended == [lost]
        assert "2 / 5 · chapter two" in page.text
        assert "&lt;ouch&gt;" in page.text
        assert "work.nap" not in page.text
        assert "work.slog" not in page.text

    def test_an_llm_process_is_told_of_once_with_its_cost(self, project, viewer, sign_in):
        process = enqueued(questions(3), scope=project.stream)
        enqueued(questions(1))
        work = work_of(project)
        assert [line.process for line in work.active_processes] == [process]
        assert work.active == []
        page = sign_in(viewer).get(address(project)).text
        assert str(process.pk)[:8] in page
        assert "0 / 3" in page
        assert "llm.process" not in page

    def test_says_why_the_next_job_does_not_begin(self, project, viewer, sign_in):
        waiting(scope=project.stream, since=60)
        assert "No worker is running" in sign_in(viewer).get(address(project)).text
        make_node()
        lead()
        changed(JobRun.objects.get(), due_at=JobRun.objects.get().created_at)
        assert work_of(project).reason is None

    def test_nothing_yet(self, project, viewer, sign_in):
        assert "No background work yet" in sign_in(viewer).get(address(project)).text

    def test_the_part_that_live_news_refresh_is_the_part_of_the_page(self, project, owner, sign_in):
        running(scope=project.stream)
        client = sign_in(owner)
        part = client.get(address(project), headers=HTMX).text
        assert 'hx-trigger="live:work from:body"' in part
        assert "<html" not in part
        for tag in re.findall(r"<(?:summary|details)\b[^>]*>", part):
            assert " id=" in tag

    def test_the_number_of_queries_does_not_grow(self, project, owner, sign_in):
        client = sign_in(owner)

        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                client.get(address(project))
            return len(captured)

        def more():
            running(scope=project.stream)
            failed(scope=project.stream)
            enqueued(questions(1), scope=project.stream)

        more()
        first = queries()
        for _ in range(4):
            more()
        assert queries() == first <= 32


class TestButtons:
    def test_editors_cancel_and_viewers_look(self, project, editor, viewer, sign_in):
        run = running(scope=project.stream)
        cancel = address(project, "work-job-cancel", run.pk)
        looking = sign_in(viewer)
        assert cancel not in looking.get(address(project)).text
        assert looking.post(cancel).status_code == 403
        assert changed(run).state == State.RUNNING
        editing = sign_in(editor)
        assert cancel in editing.get(address(project)).text
        page = editing.post(cancel, follow=True)
        assert f"Job {run.pk} is cancelled." in page.text
        assert changed(run).state == State.CANCELED
        assert AuditEntry.objects.get(action="cancel").actor == "edda"

    def test_retry(self, project, editor, sign_in):
        run = failed(scope=project.stream)
        client = sign_in(editor)
        retry = address(project, "work-job-retry", run.pk)
        assert retry in client.get(address(project)).text
        client.post(retry)
        attempt = JobRun.objects.get(retry_of=run)
        assert attempt.scope == project.stream
        page = client.get(address(project)).text
        assert retry not in page
        refused = client.post(retry, follow=True)
        assert refused.status_code == 200  # the waiting attempt is only sent once more

    def test_the_work_of_others_is_not_theirs_to_touch(self, project, editor, sign_in):
        client = sign_in(editor)
        other = waiting(scope="project:999")
        for name in ("work-job-cancel", "work-job-retry"):
            assert client.post(address(project, name, other.pk)).status_code == 404
        process = enqueued(questions(1))
        for name in ("work-process-cancel", "work-process-retry"):
            assert client.post(address(project, name, process.pk)).status_code == 404
        assert changed(other).state == State.PENDING
        assert reloaded(process).status == ProcessStatus.PENDING

    def test_llm_processes(self, project, editor, sign_in):
        client = sign_in(editor)
        process = enqueued(questions(2), scope=project.stream)
        client.post(address(project, "work-process-cancel", process.pk))
        assert reloaded(process).status == ProcessStatus.CANCELLED
        lost = work_to_end(enqueued(questions(1), scope=project.stream))
        retry = address(project, "work-process-retry", lost.pk)
        assert retry in client.get(address(project)).text
        page = client.post(retry, follow=True)
        assert "The failed requests are sent again." in page.text
        assert reloaded(lost).status == ProcessStatus.PENDING


class TestElsewhere:
    def test_active_work_is_counted_in_the_list_the_overview_and_the_tabs(
        self, project, owner, sign_in
    ):
        factories.make_project("Quiet", owner=owner)
        waiting(scope=project.stream)
        running(scope=project.stream)
        failed(scope=project.stream)
        # The beginning of another project's name must not count.
        waiting(scope=f"{project.stream}0")
        client = sign_in(owner)
        listed = {
            row.project.name: {cell.fact.key: cell.value for cell in row.cells}
            for row in client.get("/").context["rows"]
        }
        assert listed["Harbour"]["active_work"] == 2
        assert listed["Quiet"]["active_work"] == 0
        names = [row.project.name for row in client.get("/?sort=-active_work").context["rows"]]
        assert names == ["Harbour", "Quiet"]
        page = client.get(project.get_absolute_url()).text
        assert re.search(r"<dt>Active work</dt><dd>\s*2\s*</dd>", page)
        assert re.search(r'class="count" id="active-work"[^>]*>2<', page)

    def test_progress_is_no_news(self, project, owner, sign_in, django_capture_on_commit_callbacks):
        client = sign_in(owner)
        with django_capture_on_commit_callbacks(execute=True):
            enqueued(questions(1), scope=project.stream)
            waiting(scope=project.stream)
        events = Event.objects.filter(stream__name=project.stream)
        assert {"job.changed", "llm.changed"} <= set(events.values_list("type", flat=True))
        page = client.get(reverse("project-activity", args=[project.pk]))
        assert [item.type for item in page.context["news"]] == ["project.created"]
        overview = client.get(project.get_absolute_url())
        assert [item.type for item in overview.context["news"]] == ["project.created"]


@pytest.mark.django_db
class TestApi:
    def test_the_work_of_a_project(self, project, viewer, sign_in):
        run = running(scope=project.stream)
        lost = failed(scope=project.stream)
        process = enqueued(questions(2), scope=project.stream)
        seen = sign_in(viewer).get(f"/api/projects/{project.pk}/work").json()
        assert [job["id"] for job in seen["jobs"]] == [run.pk, lost.pk]
        assert [row["id"] for row in seen["llm_processes"]] == [str(process.pk)]
        assert seen["month"]["used_tokens"] == 0
        assert seen["month"]["cap_tokens"] is None
        assert seen["reason"]["code"] == "no_worker"

    def test_cancel_and_retry(self, project, editor, sign_in):
        client = sign_in(editor)

        def post(address: str) -> dict:
            return client.post(address, content_type="application/json").json()

        run = running(scope=project.stream)
        root = f"/api/projects/{project.pk}/work/jobs/{run.pk}"
        assert post(f"{root}/cancel")["state"] == "CANCELED"
        assert post(f"{root}/cancel")["code"] == "run_not_active"
        attempt = post(f"{root}/retry")
        assert attempt["retry_of"] == run.pk
        process = enqueued(questions(2), scope=project.stream)
        root = f"/api/projects/{project.pk}/work/llm/{process.pk}"
        assert post(f"{root}/cancel")["status"] == "CANCELLED"
        assert post(f"{root}/retry")["status"] == "PENDING"
