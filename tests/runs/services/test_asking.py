"""Questions and answers: whoever stops, pauses, changes the provider or comes by in between."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from glossary_site.jobs.models import JobRun
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import processes, queue
from projects.access import OPERATOR
from projects.models import Project
from runs.choices import Status
from runs.services import asking
from runs.services.ending import cancel, jobs_of
from runs.services.settling import settle
from runs.services.steps import extract as extract_step
from tests.jobs.running import send
from tests.runs.services.test_settling import lose_job
from tests.runs.working import perform_job, run_to_end, start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)


class TestQueue:
    def test_a_pause_is_no_reason_to_give_the_questions_up(self, harbour, model):
        """The server is away, the run waits half a minute; the rescue of the queue comes by."""
        run_to_end(harbour, "extract")
        model.faults.add("unavailable")
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        assert jobs_of(run).active().count() == 1
        line = run.log.last()
        assert line.message.startswith("The language model does not answer now. It is asked again")
        assert "(503: The engine is currently overloaded" in line.message
        assert (line.level, line.step) == ("warning", "generate")
        processes.rescue()
        model.faults.clear()
        run = work_on(run)
        assert (run.status, run.error_message) == (Status.COMPLETED, "")

    def test_a_model_that_is_away_is_told_of_early_in_the_language_of_the_project(
        self, harbour, model, settings
    ):
        run_to_end(harbour, "extract")
        Project.objects.filter(pk=harbour.pk).update(language="ja")
        harbour.refresh_from_db()
        settings.LLM_BACKOFF_SECONDS = 0.5
        model.faults.add("unavailable")
        threading.Timer(2, model.faults.clear).start()
        run = run_to_end(harbour, "generate")
        assert run.status == Status.COMPLETED
        away, back = run.log.filter(message__startswith="言語モデル").order_by("number")
        assert away.message.startswith("言語モデルからまだ応答がありません。")
        assert "503: The engine is currently overloaded" in away.message
        assert back.message == "言語モデルが再び応答するようになりました。"
        assert [away.level, back.level] == ["warning", "info"]

    def test_a_model_that_is_away_makes_no_progress(self, harbour, model, settings):
        run_to_end(harbour, "extract")
        settings.LLM_BACKOFF_SECONDS = 0.5
        settings.LLM_ATTEMPTS = 3
        model.faults.add("unavailable")
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        run.refresh_from_db()
        told = run.log.get(message__startswith="The language model does not answer yet")
        assert run.progress_at < told.created_at - timedelta(seconds=0.5)

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

    def test_a_run_whose_worker_died_for_the_last_time_goes_on_with_its_questions(
        self, harbour, model
    ):
        """The queue comes by before the safety net of the runs does."""
        run_to_end(harbour, "extract")
        model.faults.add("unavailable")
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        send(jobs_of(run).active().get())
        lose_job(run)
        model.faults.clear()
        processes.rescue()
        assert settle() == 1
        run = work_on(run)
        assert (run.status, run.error_message) == (Status.COMPLETED, "")

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

        def later(run, **options):
            settings.LLM = {**settings.LLM, "strategy": "batch"}
            return real(run, **options)

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

        def later(run, **options):
            settings.LLM = {
                **settings.LLM,
                "base_url": glossary_server.base_url,
                "model": "peer-small",
            }
            return real(run, **options)

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

    def test_what_the_engine_has_written_did_not_fail(self, harbour, model, settings, monkeypatch):
        """The model was no use, so that somebody has chosen the engine meanwhile."""
        run_to_end(harbour, "extract")
        model.script(lambda body: "no JSON")
        settings.LLM = {**settings.LLM, "concurrency": 1}
        run = start_run(harbour, "generate")
        real = asking.Hearing.__call__

        def killed_at_the_second(hearing, results):
            if run.failures.exists():
                raise OperationalError("as good as a kill")
            real(hearing, results)

        with monkeypatch.context() as patch:
            patch.setattr(asking.Hearing, "__call__", killed_at_the_second)
            perform_job(jobs_of(run).get())
        failed = set(run.failures.values_list("key", flat=True))
        assert failed
        settings.LLM = {**settings.LLM, "base_url": "", "model": ""}
        run = work_on(run)
        assert failed <= set(run.provisional.values_list("key", flat=True))
        assert (run.status, run.failure_count, run.failures.count()) == (Status.COMPLETED, 0, 0)

    def test_to_the_engine_and_back_within_one_step(self, harbour, model, settings, monkeypatch):
        """Its questions to the model were withdrawn, those to the engine never put."""
        run_to_end(harbour, "extract")
        model.faults.add("unavailable")
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        chosen, settings.LLM = settings.LLM, {**settings.LLM, "base_url": "", "model": ""}

        def killed(*args, **kwargs):
            raise OperationalError("as good as a kill")

        with monkeypatch.context() as patch:
            patch.setattr(asking.queue, "enqueue", killed)
            perform_job(jobs_of(run).active().get())
        model.faults.clear()
        settings.LLM = chosen
        run = work_on(run)
        assert (run.status, run.error_message) == (Status.COMPLETED, "")
        assert run.provisional.count() == run.terms.filter(excluded_because="").count()
        assert not run.provisional.filter(prompt_version__startswith="builtin").exists()

    def test_a_kill_while_the_questions_to_a_model_are_withdrawn(
        self, harbour, model, settings, monkeypatch
    ):
        """They are not taken for withdrawn by people, which would be the end of the run."""
        run_to_end(harbour, "extract")
        model.faults.add("unavailable")
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        settings.LLM = {**settings.LLM, "base_url": "", "model": ""}
        real = processes.cancel

        def killed(*args, **kwargs):
            real(*args, **kwargs)
            raise OperationalError("as good as a kill")

        with monkeypatch.context() as patch:
            patch.setattr(asking.processes, "cancel", killed)
            perform_job(jobs_of(run).active().get())
        run = work_on(run)
        assert (run.status, run.error_message) == (Status.COMPLETED, "")
        assert not LLMProcess.objects.active().exists()

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
