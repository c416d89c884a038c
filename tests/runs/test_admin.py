"""The administration of runs: filters that answer questions, two actions, and the log."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from glossary_site.jobs.choices import State
from glossary_site.jobs.services.transitions import Again
from glossary_site.llm.choices import Strategy
from glossary_site.llm.models import LLMProcess
from projects.access import OPERATOR
from projects.services.glossary import undo_batch
from runs.choices import Scope, Status
from runs.models import Run, RunLog, RunStep
from runs.services.ending import begin, fail, jobs_of
from runs.services.publishing import publish
from tests import factories
from tests.jobs.running import begin as begin_job
from tests.llm.working import enqueued, questions
from tests.runs.made import add_entries, add_failure, add_issue, add_lines, add_term, make_run
from tests.runs.views.visiting import words_of
from tests.runs.within import work_on
from tests.runs.working import make_harbour, start_run

pytestmark = pytest.mark.django_db

RUNS = "admin:runs_run_changelist"


@pytest.fixture
def client(superuser, sign_in):
    return sign_in(superuser)


@pytest.fixture
def watcher(db, sign_in):
    """May look at everything here, and do nothing."""
    user = factories.make_user("willa", is_staff=True)
    user.user_permissions.set(
        Permission.objects.filter(content_type__app_label="runs", codename__startswith="view_")
    )
    return sign_in(user)


def act(client, action: str, *rows: Run) -> list[str]:
    """What the page says after the action."""
    data = {"action": action, "_selected_action": [row.pk for row in rows]}
    response = client.post(reverse(RUNS), data, follow=True)
    return [str(message) for message in response.context["messages"]]


def listed(client, **query) -> set[int]:
    return {run.pk for run in client.get(reverse(RUNS), query).context["cl"].result_list}


def forget(run: Run) -> None:
    """Its job ended without it, as after a worker that was killed too often."""
    assert run.job is not None
    session = begin_job(run.job)
    assert session.hold.end(State.FAILED, error="It was killed.", again=Again.NEVER)


class TestFilters:
    def test_stuck_is_what_nobody_works_on_or_what_does_not_move(self, client, project):
        def another() -> Run:
            other = factories.make_project()
            factories.make_document(other)
            return start_run(other)

        fresh, lost, still = another(), another(), another()
        forget(lost)
        assert begin(still)
        Run.objects.filter(pk=still.pk).update(progress_at=timezone.now() - timedelta(hours=1))
        make_run(project)
        assert listed(client, condition="stuck") == {lost.pk, still.pk}
        assert listed(client, condition="active") == {fresh.pk, lost.pk, still.pk}

    def test_one_that_waits_for_a_batch_is_not_stuck(self, client, project):
        make_harbour(project)
        run = start_run(project)
        assert begin(run)
        forget(run)
        process = enqueued(
            questions(1),
            scope=project.stream,
            strategy=Strategy.BATCH,
            then=("runs.advance", {"run_id": run.pk}),
        )
        RunStep.objects.filter(run=run, step="generate").update(process_id=process.pk)
        assert listed(client, condition="stuck") == set()
        LLMProcess.objects.filter(pk=process.pk).update(then_kind="")
        assert listed(client, condition="stuck") == {run.pk}

    def test_what_went_wrong_and_what_waits_for_somebody(self, client, project):
        good = make_run(project, published_at=timezone.now())
        partly = make_run(project)
        add_failure(partly, "berth")
        bad = make_run(project, status=Status.FAILED)
        old = make_run(
            project, status=Status.FAILED, finished_at=timezone.now() - timedelta(days=3)
        )
        assert listed(client, condition="failures") == {partly.pk}
        assert listed(client, condition="failed") == {bad.pk}
        assert listed(client, condition="unpublished") == {partly.pk}
        add_entries(partly, {"Berth": "A place."})
        batch = publish(partly, actor=OPERATOR).batch
        assert listed(client, condition="unpublished") == set()
        undo_batch(project=project, batch=batch, actor=OPERATOR)
        assert listed(client, condition="unpublished") == {partly.pk}
        assert listed(client, status="failed") == {bad.pk, old.pk}
        assert good.pk in listed(client, q="harbour")

    def test_when_it_was_published(self, client, project):
        run = make_run(project)
        page = reverse("admin:runs_run_change", args=[run.pk])
        add_entries(run, {"Berth": "A place."})

        def told() -> str:
            text = words_of(client.get(page).text)
            return text.partition("Published at: ")[2].partition(" Page:")[0].strip()

        batch = publish(run, actor=OPERATOR).batch
        assert str(timezone.localtime().year) in told()
        undo_batch(project=project, batch=batch, actor=OPERATOR)
        assert told() == "–"

    def test_the_list_is_read_at_once(self, client, project, django_assert_max_num_queries):
        for _each in range(5):
            make_run(project)
        with django_assert_max_num_queries(12):
            client.get(reverse(RUNS))


class TestCancel:
    def test_a_run_is_stopped(self, client, project, superuser):
        make_harbour(project)
        run = start_run(project)
        assert act(client, "cancel", run) == ["Done for 1 row."]
        run.refresh_from_db()
        assert run.status == Status.CANCELLED
        assert not jobs_of(run).active().exists()

    def test_one_that_has_ended_says_so(self, client, project):
        run = make_run(project)
        (sentence,) = act(client, "cancel", run)
        assert "ended already" in sentence
        assert Run.objects.get().status == Status.COMPLETED


class TestResume:
    def test_a_failed_run_is_followed_by_one_that_does_the_rest(self, client, project):
        make_harbour(project)
        run = start_run(project)
        begin(run)
        fail(run, "The server is away.")
        assert act(client, "resume", run) == ["Done for 1 row."]
        run.refresh_from_db()
        assert run.status == Status.FAILED
        rest = Run.objects.exclude(pk=run.pk).get()
        assert rest.triggered_by == "admin"
        assert work_on(rest).status == Status.COMPLETED

    def test_what_was_written_is_not_written_again(self, client, project):
        make_harbour(project)
        run = make_run(project, status=Status.FAILED, done=3)
        add_term(run, "berth")
        add_entries(run, {"berth": "A place at the quay."}, refined=False)
        act(client, "resume", run)
        rest = Run.objects.exclude(pk=run.pk).get()
        assert (rest.base, rest.scope) == (run, Scope.PROVISIONAL_TO_REFINED)

    def test_one_whose_work_is_gone_is_taken_up_again(self, client, project):
        make_harbour(project)
        run = start_run(project)
        forget(run)
        assert act(client, "resume", run) == ["Done for 1 row."]
        assert Run.objects.count() == 1
        assert jobs_of(run).active().count() == 1
        assert work_on(run).status == Status.COMPLETED

    def test_one_that_goes_on_is_left_alone(self, client, project):
        make_harbour(project)
        run = start_run(project)
        (sentence,) = act(client, "resume", run)
        assert "nothing to resume" in sentence
        assert jobs_of(run).count() == 1

    def test_one_that_did_everything(self, client, project):
        (sentence,) = act(client, "resume", make_run(project))
        assert "everything" in sentence


class TestLog:
    @pytest.fixture
    def run(self, project) -> Run:
        make_harbour(project)
        run = start_run(project)
        begin(run)
        try:
            raise RuntimeError("/srv/glossary/somewhere")
        except RuntimeError as error:
            fail(run, "It did not work.", error=error)
        return run

    def test_it_can_be_downloaded_with_the_traceback(self, client, run):
        response = client.get(reverse("admin:runs_run_log", args=[run.pk]))
        assert response["Content-Type"] == "text/plain; charset=utf-8"
        assert f"run-{run.pk}.log" in response["Content-Disposition"]
        text = response.content.decode()
        assert text.index("It did not work.") < text.index("RuntimeError: /srv/glossary/somewhere")
        assert "error" in text

    def test_it_is_linked_and_tracebacks_are_shown(self, client, run):
        page = client.get(reverse("admin:runs_run_change", args=[run.pk])).content.decode()
        assert reverse("admin:runs_run_log", args=[run.pk]) in page
        line = RunLog.objects.exclude(traceback="").get()
        page = client.get(reverse("admin:runs_runlog_change", args=[line.pk])).content.decode()
        assert "RuntimeError: /srv/glossary/somewhere" in page
        url = reverse("admin:runs_runlog_changelist")
        lines = client.get(url, {"run__id__exact": run.pk}).context["cl"].result_list
        assert {each.run_id for each in lines} == {run.pk}

    def test_there_is_no_such_run(self, client):
        assert client.get(reverse("admin:runs_run_log", args=[10**6])).status_code == 404
        assert client.get(reverse("admin:runs_run_log", args=["x"])).status_code == 404

    def test_only_for_those_who_may_look(self, run, owner, watcher, sign_in):
        url = reverse("admin:runs_run_log", args=[run.pk])
        assert watcher.get(url).status_code == 200
        assert sign_in(owner).get(url).status_code == 302
        clerk = factories.make_user("clerk", is_staff=True)
        assert sign_in(clerk).get(url).status_code == 403


def test_who_may_only_look_gets_no_action_and_changes_nothing(watcher, project):
    make_harbour(project)
    run = start_run(project)
    page = watcher.get(reverse(RUNS))
    assert page.status_code == 200
    assert 'name="action"' not in page.content.decode()
    act_anyway = {"action": "cancel", "_selected_action": [run.pk]}
    watcher.post(reverse(RUNS), act_anyway)
    assert Run.objects.get().status == Status.PENDING
    change = reverse("admin:runs_run_change", args=[run.pk])
    assert watcher.post(change, {"status": "completed"}).status_code == 403


def test_a_run_shows_what_it_made(client, project):
    run = make_run(project)
    add_entries(run, {"berth": "A place.", "quay": "A wall."})
    add_term(run, "berth")
    add_issue(run, "berth")
    add_failure(run, "crane")
    add_lines(run, "one", "two")
    page = client.get(reverse("admin:runs_run_change", args=[run.pk])).content.decode()
    for model, count in (
        ("runterm", 1),
        ("provisionalentry", 2),
        ("refinedentry", 2),
        ("runissue", 1),
        ("runfailure", 1),
    ):
        url = reverse(f"admin:runs_{model}_changelist")
        assert f"{url}?run__id__exact={run.pk}" in page
        rows = client.get(url, {"run__id__exact": run.pk}).context["cl"].result_list
        assert len(rows) == count


def test_a_run_that_made_much_is_shown_at_once(client, project):
    """Each table is counted by itself: 60 rows in each of five are 800 million when joined."""
    run = make_run(project)
    names = [f"term {number}" for number in range(60)]
    add_entries(run, dict.fromkeys(names, "A thing."))
    for name in names:
        add_term(run, name)
        add_issue(run, name)
        add_failure(run, name)
    page = client.get(reverse("admin:runs_run_change", args=[run.pk])).content.decode()
    assert page.count(f"?run__id__exact={run.pk}") == 6
    assert page.count(": 60</a>") == 5
