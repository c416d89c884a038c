"""Going on after a stop, a kill or a failure, and when not to."""

import gc
import re
from contextlib import suppress

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from glossary_site.jobs.errors import Stop
from glossary_site.jobs.models import JobRun
from glossary_site.llm.models import LLMProcess
from projects.access import OPERATOR
from projects.models import Project
from projects.terms.keys import key_of
from runs.choices import Scope, Status
from runs.models import Run
from runs.services import executing, rows, settling
from runs.services.ending import begin, cancel, jobs_of
from runs.services.failures import resume, retry_failures
from runs.services.rows import entry_of
from runs.services.settling import settle
from runs.services.starting import base_for
from runs.services.steps import extract as extract_step
from runs.services.steps import generate as generate_step
from tests.factories import make_document
from tests.llm_server import Server
from tests.runs.made import add_entries
from tests.runs.services.test_settling import lose_job
from tests.runs.working import asked_for, perform_job, run_to_end, start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)


def without_words(answer: dict, name: str) -> dict:
    """One entry says nothing, though it has the form of one."""
    for entry in answer.get("entries", ()):
        if name in entry["definition"]:
            entry["definition"] = " "
    return answer


def refining_nothing(body: dict, answer: dict) -> dict:
    return {"entries": []} if "Improve this entry" in body["messages"][1]["content"] else answer


def batched(run: Run, model: Server) -> Run:
    """To its end, whether its questions are put in a batch or not."""
    while (job := JobRun.objects.active().order_by("due_at").first()) is not None:
        JobRun.objects.filter(pk=job.pk).update(due_at=timezone.now())
        perform_job(job)
        model.advance_batches()
    return Run.objects.get(pk=run.pk)


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

    def test_what_is_tried_again_has_the_whole_glossary_around_it(self, harbour):
        run = run_to_end(harbour)
        for name in ("pilot boat", "berth"):
            run.failures.create(step="generate", key=key_of(name), term=name, error="x")
        again = work_on(retry_failures(run, actor=OPERATOR))
        for entries in ("provisional", "refined"):
            before, after = (
                {row.key: entry_of(row) for row in getattr(each, entries).all()}
                for each in (run, again)
            )
            assert before[key_of("pilot boat")].related
            assert after == before

    def test_a_model_is_told_of_the_same_neighbours_again(self, harbour, model):
        run_to_end(harbour, "extract")
        known = model.model._script
        model.script(lambda body: "no JSON" if "pilot station" in asked_for(body) else known(body))
        first = run_to_end(harbour, "generate")
        model.script(known)
        asked = len(model.requests)
        work_on(retry_failures(first, actor=OPERATOR))
        whole, again = (
            {
                found
                for request in requests
                for found in re.findall(
                    "pilot station\n.*\n.*\n(Other terms .*)\n",
                    request.json["messages"][1]["content"],
                )
            }
            for requests in (model.requests[:asked], model.requests[asked:])
        )
        assert again == whole
        assert "pilot boat" in " ".join(whole)

    @pytest.mark.parametrize("strategy", ["sync", "batch"])
    def test_an_answer_that_was_no_use_is_not_given_to_who_tries_again(
        self, harbour, model, settings, strategy
    ):
        run_to_end(harbour, "extract")
        settings.LLM = {**settings.LLM, "strategy": strategy}
        known = model.model._script
        model.script(lambda body: without_words(known(body), "pilot station"))
        run = batched(start_run(harbour, "generate"), model)
        (failed,) = run.failures.all()
        assert (failed.key, failed.error) == (
            key_of("pilot station"),
            "The answer has no definition of this term.",
        )
        for left in (1, 0):
            if not left:
                model.script(known)
            asked = len(model.requests)
            run = batched(retry_failures(run, actor=OPERATOR), model)
            assert (run.status, run.failure_count, run.served) == (Status.COMPLETED, left, 0)
            assert len(model.requests) > asked
        # All others were paid for once.
        again = batched(start_run(harbour, "generate"), model)
        assert (again.failure_count, again.requests - again.served) == (0, 1)

    @pytest.mark.parametrize("strategy", ["sync", "batch"])
    def test_nor_are_those_of_a_step_that_failed_because_all_were_no_use(
        self, harbour, model, settings, strategy
    ):
        run_to_end(harbour, "extract")
        settings.LLM = {**settings.LLM, "strategy": strategy}
        known = model.model._script
        model.script(lambda body: {"entries": []})
        run = batched(start_run(harbour, "generate"), model)
        assert run.status == Status.FAILED
        assert run.error_message.startswith("The language model answered nothing: ")
        assert run.failure_count == run.failures.count() > 0
        settle()
        run.refresh_from_db()
        process = LLMProcess.objects.latest("created_at")
        assert run.requests == process.completed > 0
        assert run.steps.get(step="generate").process_id is None
        model.script(known)
        again = batched(resume(run, actor=OPERATOR), model)
        assert (again.status, again.error_message, again.served) == (Status.COMPLETED, "", 0)

    def test_nor_one_that_refines_nothing(self, harbour, model):
        run_to_end(harbour, "extract")
        run_to_end(harbour, "generate")
        known = model.model._script
        model.script(lambda body: refining_nothing(body, known(body)))
        run = run_to_end(harbour, "provisional_to_refined")
        assert set(run.failures.values_list("step", flat=True)) == {"refine"}
        model.script(known)
        again = work_on(retry_failures(run, actor=OPERATOR))
        assert (again.status, again.failure_count) == (Status.COMPLETED, 0)

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

    @pytest.fixture
    def stopped(self, harbour, model, monkeypatch):
        """With a term that failed, and one that it did not come to."""
        run_to_end(harbour, "extract")
        known = model.model._script
        model.script(lambda body: "no JSON" if "pilot station" in asked_for(body) else known(body))
        run = start_run(harbour, "from_terms")
        real = generate_step.finishing

        def stop(work):
            cancel(run, actor=OPERATOR)
            return real(work)

        with monkeypatch.context() as patch:
            patch.setattr(generate_step, "finishing", stop)
            run = work_on(run)
        model.script(known)
        run.provisional.filter(key=key_of("berth")).delete()
        assert run.status == Status.CANCELLED
        return run

    def test_one_that_was_stopped_tells_how_many_failed(self, stopped):
        assert stopped.failure_count == stopped.failures.count() > 0

    @pytest.mark.parametrize("begin", [resume, retry_failures])
    def test_what_goes_on_has_all_terms(self, stopped, begin):
        again = work_on(begin(stopped, actor=OPERATOR))
        assert (again.status, again.failure_count) == (Status.COMPLETED, 0)
        assert again.refined.count() == again.terms.filter(excluded_because="").count()

    def test_the_rest_of_one_that_was_stopped_later_has_those_that_failed(
        self, harbour, model, monkeypatch
    ):
        run_to_end(harbour, "extract")
        known = model.model._script
        model.script(lambda body: "no JSON" if "pilot station" in asked_for(body) else known(body))

        def fails(work):
            raise RuntimeError

        with monkeypatch.context() as patch:
            patch.setitem(executing.STEPS, "review", fails)
            run = run_to_end(harbour, "from_terms")
        assert (run.status, run.failure_count > 0) == (Status.FAILED, True)
        model.script(known)
        again = work_on(resume(run, actor=OPERATOR))
        assert (again.status, again.failure_count) == (Status.COMPLETED, 0)
        assert again.refined.count() == again.terms.filter(excluded_because="").count()

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
        run_to_end(harbour, "extract")
        generated = run_to_end(harbour, "generate", limit=3)
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
