"""`runpipeline`: what people type, what they get, and what is left behind."""

import os
import stat
import subprocess
import sys
import threading
import time
from io import StringIO

import pytest
from django.core.management import CommandError
from django.core.management.base import OutputWrapper
from django.db import connection

from glossary_site.env import ROOT
from glossary_site.jobs import performing, pulse
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.session import job_session
from projects.access import OPERATOR
from projects.choices import Role
from projects.management.languages import take_language
from projects.management.terminal import fitting
from projects.models import Project
from projects.terms.keys import key_of
from runs.choices import Status
from runs.management.showing import Display
from runs.models import Run
from tests.factories import make_document, make_member, make_user
from tests.runs.command.commanding import entries_in, refused, run
from tests.runs.working import TEXTS, start_run

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

    def test_two_files_of_one_name_do_not_meet(self, project, tmp_path):
        for place in ("a", "b"):
            (tmp_path / place).mkdir()
            (tmp_path / place / "README.md").write_text(f"# {place}\n\nA berth is a place.\n")
        run("harbour", "--doc-root", tmp_path, "--scope", "extract")
        read = Run.objects.get().documents.order_by("path").values_list("path", flat=True)
        assert list(read) == ["a/README.md", "b/README.md"]

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
        said = refused("--doc-root", tmp_path, returncode=1)
        assert said == f"There is no document in {tmp_path}."
        assert not Project.objects.exists()

    def test_files_that_cannot_be_read_are_named(self, db, folder):
        (folder / "odd.md").write_bytes(b"\x00\x01\x02")
        _out, err = run("--doc-root", folder, "--scope", "extract")
        assert "refused  odd.md" in err

    def test_files_of_other_kinds_take_one_line(self, db, folder):
        for name in ("a.py", "b.PY", "c.png", "Makefile", *(f"x.k{each}" for each in range(5))):
            (folder / name).write_text("x")
        (folder / "secret.key").write_text("x")
        (folder / "link.png").symlink_to("c.png")
        _out, err = run("--doc-root", folder, "--scope", "extract")
        said = [line for line in err.splitlines() if "left out:" in line]
        assert len(said) == 1
        assert said[0].startswith("9 files of other kinds were left out: .py (2), ")
        assert said[0].endswith(", …")
        refused_ones = [line.split()[1] for line in err.splitlines() if line.startswith("refused")]
        assert sorted(refused_ones) == ["link.png:", "secret.key:"]

    def test_the_last_result_is_no_source_of_the_next(self, db, folder):
        """Also where another way leads there."""
        target, other = folder / "glossary.md", folder.parent / "other"
        other.symlink_to(folder)
        run("--doc-root", folder, "--output", target)
        first = target.read_text()
        _out, err = run("--doc-root", folder, "--output", other / "glossary.md")
        assert "2 documents were read." in err
        assert target.read_text() == first

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
        *(
            ["harbour", "--model", "small", "--base-url", address]
            for address in (
                *("http://", "http://[::1/v1", "http://host:99999/v1", "http://host:25/v1"),
                *("http://me:secret@host/v1", "http://host/v1?api-key=secret", "host/v1"),
            )
        ),
        ["harbour", "--llm-provider", "builtin", "--model", "small"],
        ["harbour", "--follow", "--llm-provider", "builtin"],
    ],
    ids=" ".join,
)
def test_wrong_usage_does_nothing(harbour, arguments):
    assert refused(*arguments, returncode=2)
    assert not Run.objects.exists()


@pytest.mark.parametrize("option", ["--doc-root", "--output"])
def test_a_path_that_is_empty(harbour, option):
    """As of a variable that is not set: it would be the folder one is in."""
    with pytest.raises(CommandError, match="the path is empty"):
        run("harbour", option, "")
    assert not Run.objects.exists()


@pytest.mark.parametrize("limit", ["0", "-1", "few", "1000001", "9223372036854775808"])
def test_a_limit_that_is_none(harbour, limit):
    with pytest.raises(CommandError, match="--limit"):
        run("harbour", f"--limit={limit}")
    assert not Run.objects.exists()


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
