"""Starting and ending a run: every move is a compare-and-set, and the database guards it."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import State
from glossary_site.jobs.models import JobRun
from glossary_site.live.models import Event
from projects.access import OPERATOR
from runs.choices import ACTIVE, ENDED, STEPS, TRANSITIONS, Scope, Status
from runs.models import Run
from runs.services.ending import begin, cancel, complete_if_not_cancelled, fail
from runs.services.starting import active_run, start
from tests.factories import make_document, make_project
from tests.runs.working import start_run

pytestmark = pytest.mark.django_db


def refusal_of(call, *args, **kwargs) -> Refusal:
    with pytest.raises(Refusal) as refused:
        call(*args, **kwargs)
    return refused.value


class TestStarting:
    def test_a_run_waits_with_its_steps_and_its_job(self, harbour, editor):
        run = start(project=harbour, scope="full", actor=editor, triggered_by="web")
        assert (run.status, run.triggered_by, run.actor) == (Status.PENDING, "web", editor)
        assert [step.step for step in run.steps.all()] == list(STEPS[Scope.FULL])
        job = JobRun.objects.get(kind="runs.advance")
        assert (job.payload, job.scope) == ({"run_id": run.pk}, harbour.stream)

    def test_one_at_a_time(self, harbour):
        run = start_run(harbour)
        refused = refusal_of(start_run, harbour)
        assert (refused.code, refused.status) == ("run_already_active", 409)
        assert refused.details["run_id"] == run.pk
        assert Run.objects.count() == JobRun.objects.filter(kind="runs.advance").count() == 1

    def test_the_database_refuses_a_second_one_by_itself(self, harbour):
        start_run(harbour)
        with pytest.raises(IntegrityError), transaction.atomic():
            Run.objects.create(project=harbour, scope=Scope.FULL)

    def test_other_projects_are_not_in_the_way(self, harbour):
        other = make_project("Lighthouse")
        make_document(other)
        assert start_run(harbour).project != start_run(other).project

    def test_an_unknown_scope(self, harbour):
        refused = refusal_of(start_run, harbour, "everything")
        assert (refused.code, refused.status) == ("unknown_scope", 400)

    @pytest.mark.parametrize(
        ("scope", "code"),
        [
            ("from_terms", "no_terms"),
            ("generate", "no_terms"),
            ("provisional_to_refined", "no_provisional"),
            ("review", "no_provisional"),
            ("refine", "no_review"),
        ],
    )
    def test_what_is_missing_is_said_before_anything_starts(self, harbour, scope, code):
        assert refusal_of(start_run, harbour, scope).code == code
        assert not Run.objects.exists()

    @pytest.mark.parametrize("scope", ["provisional_to_refined", "review", "refine"])
    def test_a_limit_where_nothing_is_taken_by_its_rank(self, harbour, scope):
        refused = refusal_of(start_run, harbour, scope, limit=3)
        assert (refused.code, refused.status) == ("limit_without_terms", 400)

    def test_without_documents(self, project):
        assert refusal_of(start_run, project).code == "no_documents"

    def test_it_is_in_the_news(self, harbour):
        run = start_run(harbour)
        event = Event.objects.get(type="run.started")
        assert event.payload["run_id"] == run.pk


class TestEnding:
    def test_begins_once(self, harbour):
        run = start_run(harbour)
        assert begin(run)
        started = Run.objects.get().started_at
        assert begin(run)
        assert Run.objects.get().started_at == started

    def test_a_cancelled_run_is_never_completed(self, harbour):
        run = start_run(harbour)
        begin(run)
        cancel(run, actor=OPERATOR)
        assert not complete_if_not_cancelled(run)
        assert not fail(run, "too late")
        assert not begin(run)
        assert Run.objects.get().status == Status.CANCELLED

    def test_a_completed_run_is_never_cancelled(self, harbour):
        run = start_run(harbour)
        begin(run)
        assert complete_if_not_cancelled(run)
        refused = refusal_of(cancel, run, actor=OPERATOR)
        assert (refused.code, refused.details["run_status"]) == ("run_not_active", "completed")
        assert Run.objects.get().status == Status.COMPLETED

    def test_one_that_waits_cannot_be_completed(self, harbour):
        assert not complete_if_not_cancelled(start_run(harbour))

    def test_cancelling_stops_its_job(self, harbour):
        run = start_run(harbour)
        cancel(run, actor=OPERATOR)
        assert JobRun.objects.get(kind="runs.advance").state == State.CANCELED
        assert active_run(harbour) is None
        assert start_run(harbour).pk != run.pk

    def test_an_error_is_cut_to_what_fits(self, harbour):
        run = start_run(harbour)
        begin(run)
        assert fail(run, "x" * 5000)
        assert len(Run.objects.get().error_message) == 1024

    def test_the_whole_story_is_in_the_log_for_operators(self, harbour):
        run = start_run(harbour)
        try:
            raise ValueError("/etc/secret")
        except ValueError as error:
            fail(run, "It did not work.", error=error)
        line = run.log.get(level="error")
        assert line.message == "It did not work."
        assert "ValueError" in line.traceback


@pytest.mark.parametrize("status", ["pending", "running", "completed", "cancelled", "failed"])
def test_times_go_with_the_status(harbour, status):
    """Whatever writes them: the database knows which columns belong together."""
    now = timezone.now()
    wrong = {
        "pending": {"started_at": now},
        "running": {"started_at": None},
        "completed": {"started_at": now, "finished_at": None},
        "cancelled": {"finished_at": None},
        "failed": {"finished_at": now, "error_message": ""},
    }[status]
    run = start_run(harbour)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(status=status, **wrong)


def test_the_table_of_moves_is_whole():
    assert set(TRANSITIONS) == set(Status)
    assert all(not TRANSITIONS[status] for status in ENDED)
    assert all(TRANSITIONS[status] >= {Status.CANCELLED, Status.FAILED} for status in ACTIVE)
