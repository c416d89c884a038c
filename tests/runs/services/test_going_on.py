"""Going on after a stop, a kill or a failure, and when not to."""

import gc
from contextlib import suppress

import pytest
from django.db import OperationalError, connection

from glossary_site.jobs.errors import Stop
from projects.access import OPERATOR
from projects.models import Project
from projects.terms.keys import key_of
from runs.choices import Scope, Status
from runs.services import executing, rows, settling
from runs.services.ending import begin, cancel, jobs_of
from runs.services.failures import resume, retry_failures
from runs.services.settling import settle
from runs.services.starting import base_for
from runs.services.steps import extract as extract_step
from runs.services.steps import generate as generate_step
from tests.factories import make_document
from tests.runs.made import add_entries
from tests.runs.services.test_settling import lose_job
from tests.runs.working import asked_for, perform_job, run_to_end, start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)


class TestStopping:
    def test_while_the_questions_are_written(self, harbour, monkeypatch):
        """They are written before the first is answered: of ten thousand terms for a minute."""
        run = start_run(harbour)
        real_step, real = executing.STEPS["generate"], generate_step.pipeline.requests
        written = []

        def stopped(work):
            def requests(*args, **options):
                for request in real(*args, **options):
                    written.append(request)
                    if len(written) == 2:
                        work.session.stop(Stop.CANCELED)
                    yield request

            monkeypatch.setattr(generate_step.pipeline, "requests", requests)
            real_step(work)

        monkeypatch.setitem(executing.STEPS, "generate", stopped)
        perform_job(jobs_of(run).get())
        assert run.terms.filter(excluded_because="").count() > 2
        assert len(written) == 2

    def test_the_collector_is_left_as_it_was(self, harbour):
        before = gc.get_threshold()
        run_to_end(harbour)
        assert gc.get_threshold() == before


class TestGoingOn:
    def test_resuming_a_review_that_was_stopped(self, harbour, monkeypatch):
        run_to_end(harbour)
        run = start_run(harbour, "provisional_to_refined")

        def stopped(work):
            cancel(run, actor=OPERATOR)
            work.session.check()
            work.progress(0, 0)

        with monkeypatch.context() as patch:
            patch.setitem(executing.STEPS, "review", stopped)
            assert work_on(run).status == Status.CANCELLED
        again = work_on(resume(run, actor=OPERATOR))
        assert (again.status, again.error_message) == (Status.COMPLETED, "")

    def test_resuming_a_retry_keeps_what_was_tried_again(self, harbour, model, monkeypatch):
        run_to_end(harbour, "extract")
        known = model.model._script
        model.script(lambda body: "no JSON" if "pilot station" in asked_for(body) else known(body))
        first = run_to_end(harbour, "from_terms")
        model.script(known)
        retried = retry_failures(first, actor=OPERATOR)

        def stopped(work):
            cancel(retried, actor=OPERATOR)
            work.progress(0, 0)

        with monkeypatch.context() as patch:
            patch.setitem(executing.STEPS, "review", stopped)
            assert work_on(retried).status == Status.CANCELLED
        assert retried.provisional.filter(key=key_of("pilot station")).exists()
        again = work_on(resume(retried, actor=OPERATOR))
        assert again.status == Status.COMPLETED, again.error_message
        assert again.refined.filter(key=key_of("pilot station")).exists()

    def test_resuming_one_that_was_stopped_after_its_last_answer(self, harbour, monkeypatch):
        run = start_run(harbour)
        real = generate_step.finishing

        def stopped(work):
            cancel(run, actor=OPERATOR)
            return real(work)

        with monkeypatch.context() as patch:
            patch.setattr(generate_step, "finishing", stopped)
            assert work_on(run).status == Status.CANCELLED
        again = work_on(resume(run, actor=OPERATOR))
        assert (again.status, again.error_message) == (Status.COMPLETED, "")

    def test_what_is_reviewed_is_whole(self, harbour):
        """Not the two entries of a run that was stopped."""
        whole = run_to_end(harbour)
        stump = start_run(harbour, "from_terms")
        add_entries(stump, {"berth": "A place.", "pilot": "A person."}, refined=False)
        cancel(stump, actor=OPERATOR)
        assert base_for(harbour, Scope.PROVISIONAL_TO_REFINED) == whole

    def test_documents_are_not_read_within_a_transaction(self, harbour, model, monkeypatch):
        """On SQLite nobody else could write meanwhile."""
        run_to_end(harbour, "extract")
        model.faults.add("unavailable")
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        model.faults.clear()
        within = []
        real = rows.documents_of

        def noted(run):
            within.append(connection.in_atomic_block)
            return real(run)

        monkeypatch.setattr(rows, "documents_of", noted)
        work_on(run)
        assert within == [False]

    def test_a_stopped_generate_goes_on_as_a_generate(self, harbour, model):
        run_to_end(harbour, "extract")
        known = model.model._script
        model.script(lambda body: "no JSON" if "pilot station" in asked_for(body) else known(body))
        first = run_to_end(harbour, "generate")
        model.script(known)
        again = retry_failures(first, actor=OPERATOR)
        cancel(again, actor=OPERATOR)
        assert set(again.steps.values_list("step", flat=True)) == {"load", "generate"}

    def test_one_that_gets_nowhere_is_given_up_even_if_it_reads_its_documents(
        self, harbour, monkeypatch
    ):
        """The ranking needs more memory than there is: every worker that tries is killed."""

        def killed(*args, **kwargs):
            raise OperationalError("as good as a kill: the job is tried again")

        monkeypatch.setattr(extract_step, "rank", killed)
        monkeypatch.setattr("glossary_site.jobs.services.transitions.backoff", lambda attempt: 0.0)
        run = start_run(harbour)
        for _ in range(3 * settling.MOST_STALLS):
            run = work_on(run)
            settle()
        assert run.status == Status.FAILED, (run.status, run.stalls, run.log_count)

    def test_an_entry_that_could_not_be_refined_does_not_fail_the_run(self, harbour, model):
        """Everything is written; one issue, and the answer to it is no use."""
        run_to_end(harbour, "extract", limit=3)
        generated = run_to_end(harbour, "generate")
        model.script(lambda body: "no JSON")
        run = run_to_end(harbour, "provisional_to_refined")
        assert run.status == Status.COMPLETED, run.error_message
        assert run.refined.count() == generated.provisional.count()

    def test_a_run_that_cannot_be_settled_does_not_keep_the_others(self, harbour, monkeypatch):
        other = Project.objects.create(name="Other")
        make_document(other, "a.md", "# A\n\nA berth is a place.\n")
        runs = [start_run(harbour), start_run(other)]
        for run in runs:
            begin(run)
            lose_job(run)
        real = settling.settle_run

        def fails(run):
            if run.pk == max(each.pk for each in runs):
                raise RuntimeError("some row is odd")
            return real(run)

        monkeypatch.setattr(settling, "settle_run", fails)
        with suppress(RuntimeError):
            settle()
        assert jobs_of(runs[0]).active().exists()
