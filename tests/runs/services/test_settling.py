"""No run says for ever that it is running."""

import pytest
from django.db.models import F
from django.utils import timezone

from glossary_site.jobs.choices import State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.jobs.services.transitions import assign, orphan
from glossary_site.llm.models import LLMJob, LLMProcess
from projects.access import OPERATOR
from runs.choices import Status
from runs.models import Run
from runs.services.ending import begin, cancel, jobs_of
from runs.services.settling import MOST_STALLS, settle
from tests.jobs.running import begin as claim
from tests.runs.working import perform_job, run_to_end, start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)


def lose_job(run: Run) -> None:
    """As when its worker was killed for the last time that is tried."""
    for job in jobs_of(run).active():
        session = claim(job)
        JobRun.objects.filter(pk=job.pk).update(max_attempts=1)
        session.run.max_attempts = 1
        session.fail(RuntimeError("killed"))


def test_a_run_whose_job_is_gone_is_taken_up_again(harbour):
    run = start_run(harbour)
    begin(run)
    lose_job(run)
    assert not jobs_of(run).active().exists()
    assert settle() == 1
    assert work_on(run).status == Status.COMPLETED


def test_one_that_is_looked_after_is_left_alone(harbour):
    run = start_run(harbour)
    assert settle() == 0
    assert jobs_of(run).count() == 1


def test_one_that_never_gets_anywhere_is_given_up_with_a_sentence(harbour):
    run = start_run(harbour)
    begin(run)
    for _ in range(MOST_STALLS + 1):
        lose_job(run)
        settle()
    run.refresh_from_db()
    assert run.status == Status.FAILED
    assert run.error_message.startswith("The run did not get on")
    assert not jobs_of(run).active().exists()


def test_kills_do_not_count_while_the_run_gets_on(harbour):
    """Thirty kills are thirty kills too many, but no reason to give up."""
    run = start_run(harbour)
    begin(run)
    for _ in range(3 * MOST_STALLS):
        lose_job(run)
        run.steps.filter(step="load").update(done=F("done") + 1)
        settle()
    run.refresh_from_db()
    assert (run.status, run.stalls) == (Status.RUNNING, 0)
    assert jobs_of(run).active().count() == 1


def test_a_job_that_an_operator_cancelled_takes_its_run_with_it(harbour):
    run = start_run(harbour)
    cancel_run(jobs_of(run).get(), actor="tests")
    settle()
    run.refresh_from_db()
    assert run.status == Status.CANCELLED


def test_a_run_that_nobody_could_begin_says_so(harbour):
    run = start_run(harbour)
    job = jobs_of(run).get()
    while job.state != State.CANCELED:
        JobRun.objects.filter(pk=job.pk).update(rung_at=timezone.now())
        job = assign(job.pk, worker="short-lived:long:1")
        orphan(job)
    settle()
    run.refresh_from_db()
    assert run.status == Status.CANCELLED
    said = run.log.order_by("-number")[0].message
    assert said.startswith(f"Stopped, because its job {job.pk} was ended: Given up: ")
    assert "workers died before they could begin it" in said


def test_a_parked_run_waits_for_its_answers(harbour, model, settings):
    run_to_end(harbour, "extract")
    settings.LLM = {**settings.LLM, "strategy": "batch"}
    run = start_run(harbour, "generate")
    perform_job(jobs_of(run).get())
    assert settle() == 0
    assert not jobs_of(run).active().exists()
    assert JobRun.objects.filter(kind="llm.process", state=State.PENDING).exists()


def test_questions_of_a_stopped_run_do_not_stay_in_the_queue(harbour, model):
    run_to_end(harbour, "extract")
    model.faults.add("unavailable")
    run = start_run(harbour, "generate")
    perform_job(jobs_of(run).get())
    assert LLMJob.objects.exists()
    cancel(run, actor=OPERATOR)
    settle()
    assert not LLMJob.objects.exists()
    assert LLMProcess.objects.get(pk=LLMProcess.objects.latest("created_at").pk).ended
