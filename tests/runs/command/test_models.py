"""`manage.py runpipeline` with a language model, and following a worker that does the work."""

import logging
import os
import signal
import threading
import time
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError
from django.db import connection
from django.utils import timezone

from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services import transitions
from glossary_site.llm.choices import Strategy
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.providers import provider_for
from projects.access import OPERATOR
from projects.models import Project
from runs.choices import Status
from runs.models import Run, RunLog
from runs.services.ending import cancel
from tests.jobs.scene import make_worker
from tests.llm_peer import glossary
from tests.llm_server import running_server
from tests.runs.command.commanding import entries_in, refused, run
from tests.runs.working import start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)


class TestLanguageModels:
    def named(self, server) -> list[str]:
        return ["--llm-provider", "openai", "--base-url", server.base_url, "--model", "peer-small"]

    def test_the_one_that_is_named_answers(self, harbour, settings):
        """With the key of the environment, which is never typed."""
        settings.LLM = {**settings.LLM, "api_key": "sk-of-the-environment"}
        before = provider_for(harbour.stream)
        with running_server(answers=glossary.answer, api_key="sk-of-the-environment") as server:
            out, _err = run("harbour", "--format", "json", *self.named(server))
            asked = len(server.requests)
        beginnings = {entry["definition"].partition(" called")[0] for entry in entries_in(out)}
        assert beginnings == {"Something"}
        done = Run.objects.get()
        assert (done.provider, done.model) == ("openai", "peer-small")
        assert done.requests == asked > 0
        # And only here, and only now.
        assert provider_for(harbour.stream) == before

    def test_the_built_in_engine_instead_of_the_one_that_is_set(self, model, harbour):
        run("harbour", "--scope", "extract", "--llm-provider", "builtin")
        assert model.requests == []
        assert Run.objects.get().provider == "builtin"

    def test_batches_are_waited_for_without_a_worker(self, harbour, settings):
        """The run parks, and what follows is done here as well."""
        settings.LLM_BATCH_POLL_SECONDS = 0.05
        with running_server(answers=glossary.answer, batch_seconds=0.1) as server:
            settings.LLM = {
                **settings.LLM,
                "base_url": server.base_url,
                "model": "peer-small",
                "strategy": "batch",
            }
            out, _err = run("harbour", "--format", "json")
        assert entries_in(out)
        done = Run.objects.get()
        assert done.status == Status.COMPLETED
        assert LLMProcess.objects.filter(strategy=Strategy.BATCH).ended().count() >= 2
        assert JobRun.objects.filter(kind="runs.advance").count() > 1

    def test_a_failure_does_not_take_the_rest_with_it(self, model, harbour, tmp_path):
        run("harbour", "--scope", "extract")
        lost = Run.objects.get().terms.filter(excluded_because="").order_by("order")[0].text
        model.faults.add("bad_request", match=f"Term 1: {lost}")
        target = tmp_path / "glossary.json"
        message = refused("harbour", "--scope", "generate", "--output", target, returncode=3)
        done = Run.objects.order_by("-pk")[0]
        assert done.failure_count > 0
        assert str(done.failure_count) in message
        assert 0 < len(entries_in(target.read_text())) == done.provisional.count()

    def test_after_failures_in_a_folder_the_same_command_does_the_rest(
        self, glossary_server, folder
    ):
        """Its project is gone, and the run with it: there is no page to send anybody to."""
        glossary_server.faults.add("bad_request", match="Term 1: berth")
        command = ["--doc-root", folder, *self.named(glossary_server)]
        message = refused(*command, returncode=3)
        assert message.startswith("Done, with ")
        assert message.endswith("Start the same command again: no answer is asked for twice.")
        glossary_server.faults.clear()
        run(*command)
        assert set(glossary_server.ledger.charged().values()) == {1}

    def test_a_server_that_answers_nothing_fails_it(self, model, harbour):
        model.faults.add("refused_key")
        assert refused("harbour", returncode=1)
        done = Run.objects.get()
        assert done.status == Status.FAILED
        assert done.error_message

    @pytest.mark.parametrize(
        ("loudly", "traced"),
        [([], False), (["-v", 0], False), (["-v", 3], True), (["--traceback"], True)],
        ids=["plain", "quiet", "loudest", "traceback"],
    )
    def test_it_fails_with_a_sentence(self, model, harbour, loudly, traced):
        """Said once, and last; where it came from is in the log of the run all the same."""
        model.faults.add("refused_key")
        terminal = StringIO()
        handler = logging.StreamHandler(terminal)
        logging.root.addHandler(handler)
        try:
            with pytest.raises(CommandError) as error:
                run("harbour", *loudly, err=terminal)
        finally:
            logging.root.removeHandler(handler)
        sentence = Run.objects.get().error_message
        assert str(error.value) == sentence
        # Which Django writes below what is there already.
        assert (sentence in terminal.getvalue()) == traced
        assert ("Traceback" in terminal.getvalue()) == traced
        assert RunLog.objects.exclude(traceback="").exists()

    def test_ctrl_c_cancels_the_run_and_cleans_up(self, glossary_server, db, folder):
        """In the middle of a call that would take for ever."""
        glossary_server.faults.add("hold")
        before = signal.getsignal(signal.SIGINT)
        seen = []

        def press():
            while not glossary_server.requests:
                time.sleep(0.02)
            seen.extend(Run.objects.values_list("status", flat=True))
            connection.close()
            os.kill(os.getpid(), signal.SIGINT)

        presser = threading.Thread(target=press)
        presser.start()
        began = time.monotonic()
        try:
            refused("--doc-root", folder, *self.named(glossary_server), returncode=130)
        finally:
            presser.join()
            glossary_server.faults.clear()
        assert seen == ["running"]
        assert time.monotonic() - began < 30
        assert not Project.objects.exists()
        assert not JobRun.objects.active().exists()
        assert signal.getsignal(signal.SIGINT) is before

    def test_a_cancelled_run_of_a_project_stays_as_cancelled(self, glossary_server, harbour):
        glossary_server.faults.add("hold")

        def press():
            while not glossary_server.requests:
                time.sleep(0.02)
            os.kill(os.getpid(), signal.SIGINT)

        presser = threading.Thread(target=press)
        presser.start()
        try:
            refused("harbour", *self.named(glossary_server), returncode=130)
        finally:
            presser.join()
            glossary_server.faults.clear()
        assert Run.objects.get().status == Status.CANCELLED


class TestFollowing:
    @pytest.fixture
    def worker(self):
        """Does what waits, as soon as there is anything."""
        over = threading.Event()

        def work():
            while not over.is_set():
                for each in Run.objects.active():
                    work_on(each)
                time.sleep(0.02)
            connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        yield
        over.set()
        thread.join()

    def test_a_worker_does_it(self, harbour, worker):
        out, err = run("harbour", "--scope", "extract", "--follow", "--format", "json")
        assert entries_in(out)
        assert JobRun.objects.get(kind="runs.advance").assigned_worker == "test:long:1"
        assert "complete" in err

    def test_one_that_is_under_way_is_followed_to_its_end(self, harbour):
        active = start_run(harbour, "extract")
        working = threading.Timer(0.3, lambda: (work_on(active), connection.close()))
        working.start()
        out, err = run("harbour", "--follow", "--format", "json")
        working.join()
        assert f"Run {active.pk} is under way." in err
        assert entries_in(out)
        assert Run.objects.count() == 1

    def test_ctrl_c_only_stops_looking_at_somebody_elses(self, harbour):
        active = start_run(harbour)
        pressing = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        pressing.start()
        assert "goes on" in refused("harbour", "--follow", returncode=130)
        pressing.join()
        assert Run.objects.get().status == Status.PENDING
        cancel(active, actor=OPERATOR)

    def test_nobody_is_there_to_do_it(self, harbour):
        pressing = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        pressing.start()
        err = StringIO()
        with pytest.raises(CommandError) as error:
            run("harbour", "--follow", err=err)
        pressing.join()
        assert error.value.returncode == 130
        assert "manage.py worker" in err.getvalue()
        assert Run.objects.get().status == Status.CANCELLED


class TestLeftBehind:
    """By a command that was killed."""

    @pytest.fixture
    def active(self, harbour):
        active = start_run(harbour, "extract")
        assert active.job_id is not None
        assert transitions.assign(active.job_id, worker="elsewhere/command:short:1")
        return active

    @staticmethod
    def let_the_lease_lapse() -> None:
        held = JobRun.objects.filter(lease_until__isnull=False)
        held.update(lease_until=timezone.now() - timedelta(seconds=1))

    def test_it_is_not_in_the_way_where_nobody_goes_on_with_it(self, harbour, active):
        self.let_the_lease_lapse()
        out, err = run("harbour", "--scope", "extract", "--format", "json")
        assert f"Nobody works on run {active.pk} any more: it is ended." in err
        assert entries_in(out)
        active.refresh_from_db()
        assert active.status == Status.CANCELLED
        assert RunLog.objects.filter(run=active, message__contains="Nobody works").exists()

    def test_one_that_may_still_be_at_work_is_left_alone(self, harbour, active):
        assert "under way already" in refused("harbour", returncode=1)
        active.refresh_from_db()
        assert active.status == Status.PENDING

    def test_a_worker_goes_on_with_it(self, harbour, active):
        self.let_the_lease_lapse()
        make_worker("long")
        assert "under way already" in refused("harbour", returncode=1)

    def test_one_that_waits_for_a_worker_is_left_alone(self, harbour):
        start_run(harbour, "extract")
        assert "under way already" in refused("harbour", returncode=1)
