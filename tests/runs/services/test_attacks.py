"""What a second reader tried to break."""

import random
import threading
import time
from contextlib import suppress
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from glossary_site.jobs.errors import Stopped
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.llm import builtin
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import processes, queue
from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.models import Document, Project
from projects.services.documents import delete_documents
from projects.services.projects import create_project, delete_project
from projects.services.synonyms import make_group
from projects.services.terms import add_term, set_status
from projects.terms.keys import key_of
from runs.choices import Scope, Status
from runs.engine.terms import analyse
from runs.models import RunStep
from runs.pipeline.data import SourceDocument
from runs.services import asking, executing, publishing, rows, settling
from runs.services.ending import begin, cancel, jobs_of
from runs.services.estimates import estimate
from runs.services.failures import resume, retry_failures
from runs.services.publishing import publish
from runs.services.settling import settle
from runs.services.starting import base_for
from runs.services.steps import extract as extract_step
from runs.services.steps import generate as generate_step
from runs.services.steps import load as load_step
from tests.factories import make_document
from tests.jobs.running import send
from tests.runs.made import add_entries
from tests.runs.services.test_settling import lose_job
from tests.runs.working import make_harbour, perform_job, run_to_end, start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)

on_postgres = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="locks of rows")


def names_in(body: dict) -> str:
    text = body["messages"][-1]["content"]
    return "\n".join(line for line in text.splitlines() if line.startswith("Term "))


class TestQueue:
    def test_a_pause_is_no_reason_to_give_the_questions_up(self, harbour, model):
        """The server is away, the run waits half a minute; the rescue of the queue comes by."""
        run_to_end(harbour, "extract")
        model.faults.add("unavailable")
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        assert jobs_of(run).active().count() == 1
        processes.rescue()
        model.faults.clear()
        run = work_on(run)
        assert (run.status, run.error_message) == (Status.COMPLETED, "")

    def test_questions_of_a_run_that_waits_for_a_worker_are_not_given_up(self, harbour, model):
        """Its attempts are used up, the safety net has called another; all workers are busy."""
        run_to_end(harbour, "extract")
        model.faults.add("unavailable")
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        send(jobs_of(run).active().get())
        lose_job(run)
        assert settle() == 1
        processes.rescue()
        assert LLMProcess.objects.active().exists()

    def test_a_batch_is_not_sent_for_a_run_that_was_stopped_while_it_asked(
        self, harbour, model, settings, monkeypatch
    ):
        run_to_end(harbour, "extract")
        asked = len(model.requests)
        settings.LLM = {**settings.LLM, "strategy": "batch"}
        run = start_run(harbour, "generate")
        real = queue.enqueue

        def slow(*args, **kwargs):
            cancel(run, actor=OPERATOR)
            return real(*args, **kwargs)

        monkeypatch.setattr(asking.queue, "enqueue", slow)
        perform_job(jobs_of(run).get())
        settle()
        for job in JobRun.objects.active().filter(kind=processes.KIND):
            perform_job(job)
        settle()
        run.refresh_from_db()
        assert run.status == Status.CANCELLED
        assert not LLMProcess.objects.active().exists()
        assert len(model.requests) == asked

    def test_another_strategy_chosen_during_a_run_loses_no_answers(
        self, harbour, model, settings, monkeypatch
    ):
        """Finding terms takes minutes; meanwhile somebody turns batches on."""
        real = extract_step.snapshot_terms

        def later(run):
            settings.LLM = {**settings.LLM, "strategy": "batch"}
            return real(run)

        monkeypatch.setattr(extract_step, "snapshot_terms", later)
        run = start_run(harbour)
        for _ in range(60):
            active = JobRun.objects.active().order_by("due_at").first()
            if active is None:
                break
            JobRun.objects.filter(pk=active.pk).update(due_at=timezone.now())
            perform_job(active)
            model.advance_batches()
        run.refresh_from_db()
        assert (run.status, run.error_message) == (Status.COMPLETED, "")

    def test_a_model_is_not_asked_the_questions_of_the_engine(
        self, harbour, glossary_server, settings, monkeypatch
    ):
        """A provider is set up while the built-in engine finds terms."""
        real = extract_step.snapshot_terms

        def later(run):
            settings.LLM = {
                **settings.LLM,
                "base_url": glossary_server.base_url,
                "model": "peer-small",
            }
            return real(run)

        monkeypatch.setattr(extract_step, "snapshot_terms", later)
        run = run_to_end(harbour)
        nonsense = [r for r in glossary_server.requests if '"-"' in str(r.body)]
        assert not nonsense
        assert (run.status, run.error_message) == (Status.COMPLETED, "")

    def test_back_to_the_engine_after_a_kill_in_the_extraction(self, harbour, model, settings):
        model.faults.add("unavailable")
        run = start_run(harbour)
        perform_job(jobs_of(run).get())
        settings.LLM = {**settings.LLM, "base_url": "", "model": ""}
        run = work_on(run)
        assert (run.status, run.error_message) == (Status.COMPLETED, "")

    def test_nor_when_a_provider_is_set_up_after_a_kill(
        self, harbour, glossary_server, settings, monkeypatch
    ):
        """The questions for the engine are in the queue already."""
        run_to_end(harbour, "extract")
        run = start_run(harbour, "generate")

        def killed(hearing, results):
            raise OperationalError("as good as a kill")

        with monkeypatch.context() as patch:
            patch.setattr(asking.Hearing, "__call__", killed)
            perform_job(jobs_of(run).get())
        settings.LLM = {**settings.LLM, "base_url": glossary_server.base_url, "model": "peer-small"}
        run = work_on(run)
        assert not [r for r in glossary_server.requests if '"-"' in str(r.body)]
        assert (run.status, run.failure_count) == (Status.COMPLETED, 0)

    def test_a_batch_that_was_answered_is_used_whoever_answers_next(self, harbour, model, settings):
        run_to_end(harbour, "extract")
        settings.LLM = {**settings.LLM, "strategy": "batch"}
        run = start_run(harbour, "generate")
        for _ in range(60):
            job = JobRun.objects.active().order_by("due_at").first()
            if job is None or LLMProcess.objects.filter(then_kind__gt="").exclude(finished_at=None):
                break
            JobRun.objects.filter(pk=job.pk).update(due_at=timezone.now())
            perform_job(job)
            model.advance_batches()
        settings.LLM = {**settings.LLM, "base_url": "", "model": "", "strategy": "sync"}
        run = work_on(run)
        assert run.status == Status.COMPLETED, run.error_message
        assert not run.provisional.filter(prompt_version__startswith="builtin").exists()


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
        model.script(lambda body: "no JSON" if "pilot station" in names_in(body) else known(body))
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
        model.script(lambda body: "no JSON" if "pilot station" in names_in(body) else known(body))
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


class TestTerms:
    def test_a_required_synonym_stays_when_the_primary_is_excluded(self, harbour):
        terms = {
            text: add_term(project=harbour, text=text, status=TermStatus.REQUIRED, actor=OPERATOR)
            for text in ("berth", "quay place")
        }
        make_group(
            project=harbour,
            primary=terms["berth"],
            terms=list(terms.values()),
            actor=OPERATOR,
        )
        set_status(
            project=harbour,
            ids=[terms["berth"].pk],
            status=TermStatus.EXCLUDED,
            actor=OPERATOR,
        )
        run = run_to_end(harbour, "from_terms")
        assert run.status == Status.COMPLETED, run.error_message
        assert run.refined.filter(key=key_of("quay place")).exists()

    def test_required_and_nowhere(self, harbour):
        add_term(project=harbour, text="lighthouse", status=TermStatus.REQUIRED, actor=OPERATOR)
        run = run_to_end(harbour)
        assert run.status == Status.COMPLETED, run.error_message
        assert run.refined.filter(key="lighthouse").exists()

    def test_an_estimate_is_not_of_the_one_term_added_by_hand(self, harbour):
        make_document(harbour, "long.md", "A mooring line is a rope of the ship. " * 2000)
        before = estimate(harbour, Scope.FULL).terms
        add_term(project=harbour, text="lighthouse", actor=OPERATOR)
        assert estimate(harbour, Scope.FULL).terms >= before

    def test_a_retry_of_one_term_says_little_of_all(self, harbour):
        run = run_to_end(harbour)
        terms = run.terms.filter(excluded_because="").count()
        now = timezone.now()
        RunStep.objects.filter(run=run, step="generate").update(
            started_at=now - timedelta(seconds=10 * terms), finished_at=now
        )
        before = estimate(harbour, Scope.GENERATE).seconds
        assert before > 9 * terms
        key = run.terms.filter(excluded_because="").first().key
        run.failures.create(step="generate", key=key, term=key, error="x")
        again = work_on(retry_failures(run, actor=OPERATOR))
        RunStep.objects.filter(run=again, step="generate").update(
            started_at=now - timedelta(seconds=10), finished_at=now
        )
        assert estimate(harbour, Scope.GENERATE).seconds > before / 2


class TestSaid:
    def test_a_failure_of_the_engine_names_no_file_of_the_server(self, harbour, monkeypatch):
        run_to_end(harbour, "extract")

        def broken(request):
            if key_of("pilot station") in request.key:
                raise FileNotFoundError(2, "No such file", "/srv/site/secret/dictionary.dic")
            return known(request)

        known = builtin._tasks["runs.define"]
        monkeypatch.setitem(builtin._tasks, "runs.define", broken)
        run = run_to_end(harbour, "from_terms")
        assert run.failure_count >= 1
        said = [f.error for f in run.failures.all()] + [line.message for line in run.log.all()]
        assert not [text for text in said if "/srv/site" in text]


def together(*functions, seconds=15.0):
    """Each in a thread; what each raised."""
    raised: list[BaseException] = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=guarded, args=(each,)) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive()
    return raised


def deadlocks(raised):
    return [error for error in raised if "deadlock" in str(error)]


@on_postgres
class TestLocks:
    def test_deleting_a_project_while_a_step_ends(self, harbour, monkeypatch):
        """The worker holds the run and goes for its job; the other one holds the job and goes for
        the run."""
        run = start_run(harbour)
        in_the_middle, go_on = threading.Event(), threading.Event()
        real = load_step._inherit

        def slow(work):
            real(work)
            in_the_middle.set()
            go_on.wait(1.0)

        monkeypatch.setattr(load_step, "_inherit", slow)
        seen: list[BaseException] = []
        real_fail = executing.Session.fail

        def noted(session, error):
            seen.append(error)
            real_fail(session, error)

        monkeypatch.setattr(executing.Session, "fail", noted)

        def delete():
            in_the_middle.wait(5)
            delete_project(project=Project.objects.get(pk=harbour.pk), actor=OPERATOR)

        job = jobs_of(run).get()
        raised = together(lambda: perform_job(job), delete)
        assert not deadlocks([*raised, *seen])
        assert not Project.objects.filter(pk=harbour.pk).exists()

    def test_deleting_projects_at_random_instants_of_their_runs(self, monkeypatch):
        seen: list[BaseException] = []
        real_fail = executing.Session.fail

        def noted(session, error):
            seen.append(error)
            real_fail(session, error)

        monkeypatch.setattr(executing.Session, "fail", noted)
        chance = random.Random(5)
        for number in range(10):
            project = create_project(actor=OPERATOR, name=f"Harbour {number}")
            make_harbour(project)
            job = jobs_of(start_run(project)).get()

            wait = chance.uniform(0, 0.5)

            def delete(project=project, wait=wait):
                time.sleep(wait)
                delete_project(project=Project.objects.get(pk=project.pk), actor=OPERATOR)

            seen += together(lambda job=job: perform_job(job), delete)
        assert not [error for error in seen if not isinstance(error, Stopped)]
        assert not Project.objects.filter(name__startswith="Harbour ").exists()

    def test_deleting_a_project_while_a_run_is_published(self, harbour, monkeypatch):
        run = run_to_end(harbour)
        in_the_middle = threading.Event()
        real = publishing.publish_entries

        def slow(**kwargs):
            in_the_middle.set()
            threading.Event().wait(0.7)
            return real(**kwargs)

        monkeypatch.setattr(publishing, "publish_entries", slow)

        def delete():
            in_the_middle.wait(5)
            delete_project(project=Project.objects.get(pk=harbour.pk), actor=OPERATOR)

        raised = together(lambda: publish(run, actor=OPERATOR), delete)
        assert not deadlocks(raised)

    def test_deleting_documents_that_are_being_read(self, project, monkeypatch):
        """Their paths are in another order than their numbers."""
        later = make_document(project, "b.md", "# B\n")
        make_document(project, "a.md", "# A\n")
        ids = sorted(project.documents.values_list("pk", flat=True))
        held, waiting, release = threading.Event(), threading.Event(), threading.Event()
        fresh = [SourceDocument(d.pk, d.path, d.file_hash, "") for d in project.documents.all()]
        known = {pk: analyse("A berth is a place.") for pk in ids}

        def hold():
            with transaction.atomic():
                Document.objects.select_for_update().get(pk=later.pk)
                held.set()
                release.wait(5)

        def delete():
            held.wait(5)
            waiting.set()
            delete_documents(project=project, ids=ids, actor=OPERATOR)

        def remember():
            waiting.wait(5)
            time.sleep(0.3)
            threading.Timer(0.5, release.set).start()
            with transaction.atomic():
                extract_step._remember(SimpleNamespace(project=project), fresh, known)

        assert not deadlocks(together(hold, delete, remember))

    def test_the_safety_net_and_a_worker(self, harbour, model, monkeypatch):
        """An operator cancels the job of a run while an answer is being written down."""
        run_to_end(harbour, "extract")
        run = start_run(harbour, "generate")
        in_the_middle = threading.Event()
        real = asking.note_failures

        def slow(work, failures):
            if not in_the_middle.is_set():
                in_the_middle.set()
                threading.Event().wait(0.7)
            real(work, failures)

        monkeypatch.setattr(asking, "note_failures", slow)
        seen: list[BaseException] = []
        real_fail = executing.Session.fail

        def noted(session, error):
            seen.append(error)
            real_fail(session, error)

        monkeypatch.setattr(executing.Session, "fail", noted)

        def net():
            in_the_middle.wait(5)
            cancel_run(jobs_of(run).active().get(), actor="tests")
            settle()

        job = jobs_of(run).get()
        raised = together(lambda: perform_job(job), net)
        assert not deadlocks([*raised, *seen]), (raised, seen)
