"""`runpipeline`: what people type, what they get, and what is left behind."""

import json
import logging
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper
from django.db import connection

from glossary_site.env import ROOT
from glossary_site.jobs import performing, pulse
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.session import job_session
from glossary_site.llm.choices import Strategy
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.providers import provider_for
from projects.access import OPERATOR
from projects.choices import Role
from projects.management.terminal import fitting
from projects.models import Project
from projects.terms.keys import key_of
from runs.choices import Status
from runs.management.showing import Display
from runs.management.temporary import take_language
from runs.models import Run, RunLog
from runs.services.ending import cancel
from tests.factories import make_document, make_member, make_user
from tests.llm_peer import glossary
from tests.llm_server import running_server
from tests.runs.working import TEXTS, start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)

SHAPE = {
    "term",
    "definition",
    "confidence",
    "category",
    "aliases",
    "related",
    "score",
    "occurrences",
    "evidence",
}


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path):
    for path, text in TEXTS.items():
        file = tmp_path / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "docs"


def run(*arguments: object, err: StringIO | None = None) -> tuple[str, str]:
    """What it writes to standard output, and to standard error."""
    out, err = StringIO(), err or StringIO()
    call_command("runpipeline", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(*arguments: object, returncode: int) -> str:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert error.value.returncode == returncode, error.value
    return str(error.value)


def entries_in(text: str) -> list[dict]:
    return json.loads(text)["entries"]


class TestAProject:
    def test_its_glossary_the_best_terms_first(self, harbour):
        out, err = run("harbour", "--format", "json")
        entries = entries_in(out)
        done = Run.objects.get()
        assert (done.status, done.triggered_by, done.actor) == (Status.COMPLETED, "command", None)
        assert [entry["term"] for entry in entries] == list(
            done.refined.order_by("order").values_list("term", flat=True)
        )
        assert set(entries[0]) == SHAPE
        berth = next(entry for entry in entries if key_of(entry["term"]) == key_of("berth"))
        assert "place at the quay where a ship is moored" in berth["definition"]
        assert berth["evidence"][0]["document"] == "harbour/berths.md"
        assert berth["evidence"][0]["line"] == 3
        # The log beside it, in the order of the steps.
        steps = [line.split()[2] for line in err.splitlines() if len(line.split()) > 2]
        order = ["load", "extract", "generate", "review", "refine"]
        assert sorted(set(steps) & set(order), key=steps.index) == order

    def test_by_its_number_and_for_a_person(self, harbour, editor):
        run(harbour.pk, "--scope", "extract", "--as", "edda")
        assert Run.objects.get().actor == editor

    def test_only_for_those_who_may(self, harbour):
        make_member(harbour, Role.VIEWER, make_user("vic"))
        assert "Editor" in refused("harbour", "--as", "vic", returncode=1)
        refused("harbour", "--as", "nobody", returncode=2)
        assert not Run.objects.exists()

    def test_terms_alone_so_many_at_most(self, harbour):
        out, _err = run("harbour", "--scope", "extract", "--format", "json", "--limit", 3)
        entries = entries_in(out)
        assert len(entries) == 3
        assert set(entries[0]) == SHAPE - {"definition"}
        scores = [entry["score"] for entry in entries]
        assert scores == sorted(scores, reverse=True)
        place = entries[0]["evidence"][0]
        text = TEXTS[place["document"]].split("\n")
        assert place["quote"] == text[place["line"] - 1].strip()

    @pytest.mark.parametrize(
        ("format", "beginning"),
        [("md", "# Harbour\n"), ("csv", "\ufeffterm,category"), ("json", '{"entries": [')],
        ids=["md", "csv", "json"],
    )
    def test_terms_in_every_format(self, harbour, format, beginning):
        out, _err = run("harbour", "--scope", "extract", "--format", format)
        assert out.startswith(beginning)
        assert "harbour master" in out.lower()

    def test_one_run_at_a_time(self, harbour):
        active = start_run(harbour)
        assert f"#{active.pk}" in refused("harbour", returncode=1)
        assert Run.objects.get().status == Status.PENDING

    def test_what_is_missing_is_said(self, project):
        assert "documents" in refused("harbour", returncode=1)

    def test_no_worker_gets_it(self, harbour, monkeypatch):
        """One that takes whatever it sees finds nothing to take: it is ours from the first, however
        long we take."""
        over = threading.Event()
        taken = []

        def slowly(*arguments, **options):
            time.sleep(0.3)
            return job_session(*arguments, **options)

        monkeypatch.setattr(performing, "job_session", slowly)

        def worker():
            while not over.is_set():
                waiting = JobRun.objects.filter(kind="runs.advance").waiting()
                for number in list(waiting.values_list("pk", flat=True)):
                    with job_session(number, worker="rival:long:1") as session:
                        if session is not None:
                            taken.append(number)
                            session.perform()
            connection.close()

        rival = threading.Thread(target=worker)
        rival.start()
        try:
            run("harbour", "--scope", "extract")
        finally:
            over.set()
            rival.join()
        assert taken == []
        assert JobRun.objects.get(kind="runs.advance").assigned_worker == pulse.worker_name()


class TestAFolder:
    def test_an_empty_project_takes_it_in(self, project, folder):
        run("harbour", "--doc-root", folder, "--scope", "extract")
        paths = project.documents.order_by("path").values_list("path", flat=True)
        assert list(paths) == sorted(TEXTS)

    def test_one_that_has_documents_does_not(self, project, folder):
        make_document(project, "own.md", "# Own\n\nA crane is a machine that lifts cargo.\n")
        _out, err = run("harbour", "--doc-root", folder, "--scope", "extract")
        assert "the folder is not read" in err
        assert project.documents.get().path == "own.md"

    def test_a_folder_alone_leaves_nothing_behind(self, db, folder, tmp_path):
        target = tmp_path / "glossary.md"
        out, err = run("--doc-root", folder, "--output", target)
        assert out == ""
        text = target.read_text()
        assert text.startswith("# docs\n")
        assert "place at the quay where a ship is moored" in text
        assert "runpipeline" not in text
        assert "2 documents were read." in err
        assert err.rstrip().endswith(f"The glossary is in {target}.")
        assert not Project.objects.exists()
        assert not Run.objects.exists()
        assert not JobRun.objects.active().exists()

    def test_a_folder_without_documents(self, db, tmp_path):
        assert "documents" in refused("--doc-root", tmp_path, returncode=1)
        assert not Project.objects.exists()

    def test_files_that_cannot_be_read_are_named(self, db, folder):
        (folder / "odd.md").write_bytes(b"\x00\x01\x02")
        _out, err = run("--doc-root", folder, "--scope", "extract")
        assert "refused  odd.md" in err

    @pytest.mark.parametrize(
        ("text", "language"),
        [("# 港\n\n停泊地とは、船が泊まる場所である。\n", "ja"), ("# Port\n\nA berth.\n", "en")],
        ids=["ja", "en"],
    )
    def test_it_has_the_language_of_its_documents(self, project, text, language):
        make_document(project, "a.md", text)
        take_language(project, OPERATOR)
        assert Project.objects.get().language == language


class TestTheFile:
    @pytest.mark.parametrize("name", ["terms.csv", "terms.json", "terms.md", "TERMS.JSON"])
    def test_its_name_says_the_format(self, harbour, tmp_path, name):
        target = tmp_path / name
        run("harbour", "--scope", "extract", "--output", target)
        beginning = {"csv": "\ufeffterm", "json": "{", "md": "# "}[name.lower().partition(".")[2]]
        assert target.read_text().startswith(beginning)

    def test_it_is_anybodys_to_read_and_alone(self, harbour, tmp_path):
        target = tmp_path / "out" / "terms.json"
        target.parent.mkdir()
        before = os.umask(0o022)
        try:
            run("harbour", "--scope", "extract", "--output", target)
        finally:
            os.umask(before)
        assert stat.S_IMODE(target.stat().st_mode) == 0o644
        assert os.listdir(target.parent) == ["terms.json"]

    def test_a_pipe_is_written_into(self, harbour, tmp_path):
        pipe = tmp_path / "terms.json"
        os.mkfifo(pipe)
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
        reader.start()
        run("harbour", "--scope", "extract", "--output", pipe)
        reader.join()
        assert entries_in(read[0])
        assert stat.S_ISFIFO(pipe.stat().st_mode)

    def test_a_run_that_fails_leaves_the_old_one(self, model, harbour, tmp_path):
        model.faults.add("refused_key")
        target = tmp_path / "terms.md"
        target.write_text("old")
        refused("harbour", "--output", target, returncode=1)
        assert target.read_text() == "old"
        assert os.listdir(tmp_path) == ["terms.md"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nowhere"],
        ["--doc-root", "/nowhere"],
        ["--doc-root", ".", "--scope", "review"],
        ["harbour", "--output", "/nowhere/at/all.md"],
        ["harbour", "--output", "/"],
        # There even root can make nothing, whatever the rights say.
        ["harbour", "--output", "/proc/terms.md"],
        ["harbour", "--output", f"/tmp/{'x' * 256}.md"],
        ["harbour", "--llm-provider", "openai"],
        ["harbour", "--llm-provider", "openai", "--base-url", "http://127.0.0.1:1/v1"],
        ["harbour", "--model", "small"],
        ["harbour", "--base-url", "ftp://somewhere", "--model", "small"],
        ["harbour", "--llm-provider", "builtin", "--model", "small"],
        ["harbour", "--follow", "--llm-provider", "builtin"],
    ],
    ids=" ".join,
)
def test_wrong_usage_does_nothing(harbour, arguments):
    assert refused(*arguments, returncode=2)
    assert not Run.objects.exists()


@pytest.mark.parametrize("limit", ["0", "-1", "few", "1000001", "9223372036854775808"])
def test_a_limit_that_is_none(harbour, limit):
    with pytest.raises(CommandError, match="--limit"):
        run("harbour", f"--limit={limit}")
    assert not Run.objects.exists()


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

    def test_a_server_that_answers_nothing_fails_it(self, model, harbour):
        model.faults.add("refused_key")
        assert refused("harbour", returncode=1)
        done = Run.objects.get()
        assert done.status == Status.FAILED
        assert done.error_message

    @pytest.mark.parametrize(
        ("loudly", "shown"),
        [([], False), (["-v", 0], False), (["-v", 3], True), (["--traceback"], True)],
        ids=["plain", "quiet", "loudest", "traceback"],
    )
    def test_it_fails_with_a_sentence(self, model, harbour, loudly, shown):
        """On the terminal; where it came from is in the log of the run all the same."""
        model.faults.add("refused_key")
        log = StringIO()
        handler = logging.StreamHandler(log)
        logging.root.addHandler(handler)
        try:
            refused("harbour", *loudly, returncode=1)
        finally:
            logging.root.removeHandler(handler)
        assert "Failed: " in log.getvalue()
        assert ("Traceback" in log.getvalue()) == shown
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


class TestAtATerminal:
    def test_a_bar_instead_of_a_line_for_each_term(self, glossary_server, harbour):
        glossary_server.faults.add("slow", delay=0.3)
        server = ["--base-url", glossary_server.base_url, "--model", "peer-small"]
        _out, err = run("harbour", *server, err=Terminal())
        lines = [line for line in err.split("\n") if line]
        assert not any(line.endswith("%") for line in lines)
        assert "\r\x1b[K" in err

    def test_the_bar_shows_how_far_it_is(self, harbour):
        under_way = start_run(harbour)
        under_way.current_step, under_way.current_term = "generate", "berth"
        under_way.progress_current, under_way.progress_total = 3, 12
        terminal = Terminal()
        Display(OutputWrapper(terminal)).show(under_way)
        bar = terminal.getvalue().rsplit("\r\x1b[K")[-1]
        assert 0 < bar.count("█") < bar.count("░")
        assert "3/12 berth" in bar

    def test_quiet(self, harbour):
        _out, err = run("harbour", "--scope", "extract", "-v", 0, err=Terminal())
        assert err == ""

    def test_a_line_is_never_longer_than_the_terminal(self):
        assert fitting("停泊地" * 10, 20) == "停泊地停泊地停泊地…"
        assert fitting("short", 20) == "short"


def test_the_whole_job_in_one_line_on_a_machine_that_never_ran_the_site(folder, tmp_path):
    environment = {
        **os.environ,
        "GLOSSARY_DATA_DIR": str(tmp_path / "data"),
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "DJANGO_SETTINGS_MODULE": "glossary_site.settings",
    }
    target = tmp_path / "glossary.json"
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "manage.py"), "runpipeline"),
            *("--doc-root", str(folder), "--output", str(target)),
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert any("quay" in entry["definition"] for entry in entries_in(target.read_text()))
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
