"""Logs: the same to a reader wherever they are kept; and what goes when it is old."""

import gzip
import logging
import os
import stat
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from glossary_site.env import ROOT
from glossary_site.jobs.choices import State
from glossary_site.jobs.logs import directory, log_lines
from glossary_site.jobs.models import AuditEntry, JobLog, JobRun, TriggerEvent, Worker
from glossary_site.jobs.services import logs, retention
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.services.logs import move_old_logs, remove_forgotten_files
from glossary_site.jobs.services.retention import remove_old_rows
from glossary_site.jobs.services.runs import retry_run
from tests.jobs.running import begin, perform
from tests.site.running import PATIENCE, migrated_site


def days_ago(days: float):
    return timezone.now() - timedelta(days=days)


@pytest.fixture(autouse=True)
def _own_directory(tmp_path, settings):
    settings.DATA_DIR = tmp_path


def ended(*messages: str, days: float = 20, **fields) -> JobRun:
    """A run that ended so long ago, with its log."""
    run = JobRun.objects.create(
        kind="work.note",
        lane="short",
        timeout_seconds=1,
        **{
            "state": State.CANCELED,
            "created_at": days_ago(days),
            "finished_at": days_ago(days),
            **fields,
        },
    )
    for message in messages:
        JobLog.objects.create(run=run, message=message, level="warning", time=days_ago(days))
    return run


def files() -> list[Path]:
    return sorted(path for path in directory().rglob("*") if path.is_file())


def path_of(run: JobRun) -> Path:
    run.refresh_from_db()
    return directory() / run.log_ref


@pytest.mark.django_db
class TestReading:
    def test_a_reader_does_not_notice_where_the_lines_are(self):
        run = ended("灯台\nthe light", "two", "three \0 …".replace("\0", ""))
        before = log_lines(run)
        assert [line.message for line in before][:2] == ["灯台\nthe light", "two"]
        assert move_old_logs() == 1
        assert not JobLog.objects.exists()
        assert log_lines(run) == before
        assert log_lines(JobRun.objects.get(pk=run.pk)) == before

    @pytest.mark.parametrize("moved", [False, True])
    def test_paging_is_the_same_in_both_places(self, moved):
        ended("somebody else's")
        run = ended(*(f"line {number}" for number in range(10)))
        if moved:
            move_old_logs()
        first = log_lines(run, limit=4)
        assert [line.message for line in first] == [f"line {number}" for number in range(4)]
        second = log_lines(run, after=first[-1].id, limit=4)
        third = log_lines(run, after=second[-1].id, limit=4)
        assert [line.message for line in third] == ["line 8", "line 9"]
        assert log_lines(run, after=third[-1].id, limit=4) == []

    def test_a_line_that_comes_late_follows_the_file_and_is_moved_too(self):
        run = ended("one", "two")
        move_old_logs()
        first = path_of(run)
        JobLog.objects.create(run=run, message="three")
        assert [line.message for line in log_lines(run)] == ["one", "two", "three"]
        assert [line.message for line in log_lines(run, limit=2)] == ["one", "two"]
        assert move_old_logs() == 1
        assert [line.message for line in log_lines(run)] == ["one", "two", "three"]
        assert files() == [path_of(run)]
        assert path_of(run) != first

    @pytest.mark.parametrize(
        "ref",
        [
            "../../etc/passwd",
            "/etc/passwd",
            "000000/../../secret",
            "000000/99999999-0123456789abcdef.jsonl.gz",
            "000001/{pk}-0123456789abcdef.jsonl.gz",
            "000000/{pk}-0123456789abcdef.jsonl.gz",
            "x",
        ],
    )
    def test_a_name_that_leads_elsewhere_or_nowhere_is_not_followed(self, ref, tmp_path):
        (tmp_path / "secret").write_bytes(gzip.compress(b'{"id": 1, "message": "secret"}\n'))
        run = ended("late", log_ref="x")
        JobRun.objects.update(log_ref=ref.format(pk=run.pk))
        warning, late = log_lines(run)
        assert warning.level == "warning"
        assert "missing or damaged" in warning.message
        assert late.message == "late"
        # A reader who goes on does not see it again.
        assert log_lines(run, after=late.id) == []

    def test_a_damaged_file_is_said_to_be_so(self):
        run = ended("one", "two")
        move_old_logs()
        path = path_of(run)
        for damage in (path.read_bytes()[:30], b"no gzip", gzip.compress(b"{}\n"), b""):
            path.write_bytes(damage)
            if damage:
                assert "missing or damaged" in log_lines(run)[0].message
        # What cannot be read is not replaced by less.
        JobLog.objects.create(run=run, message="three")
        path.write_bytes(b"no gzip")
        assert move_old_logs() == 0
        assert JobLog.objects.count() == 1
        assert files() == [path]

    def test_what_a_job_says_is_in_its_log(self):
        run = enqueue("work.note")
        session = begin(run)
        session.log("It begins.")
        session.fail(ValueError("no luck"))
        said, error = log_lines(run)
        assert (said.message, said.level) == ("It begins.", "info")
        assert error.level == "error"
        assert error.message.endswith("ValueError: no luck\n")

    def test_what_no_database_keeps_does_not_keep_a_job_from_ending(self):
        run = enqueue("work.note", retries=0)
        session = begin(run)
        session.log("half a \ud83d, and \0")
        session.progress(1, 1, "\0")
        # The test runner cannot carry such a text in what it captured, either.
        logging.disable(logging.CRITICAL)
        try:
            session.fail(ValueError("not text: \0 \ud800"))
        finally:
            logging.disable(logging.NOTSET)
        run.refresh_from_db()
        assert (run.state, run.error) == (State.FAILED, "ValueError: not text: \ufffd ?")
        assert log_lines(run)[0].message == "half a ?, and \ufffd"

    @pytest.mark.django_db(transaction=True)
    def test_who_reads_while_it_is_moved_sees_every_line_once(self):
        expected = [f"line {number}" for number in range(20)]
        runs = [ended(*expected) for _ in range(5)]
        seen, done = [], threading.Event()

        def read() -> None:
            try:
                while not done.is_set():
                    seen.extend([line.message for line in log_lines(run)] for run in runs)
            finally:
                connection.close()

        reader = threading.Thread(target=read)
        reader.start()
        try:
            for late in range(3):
                move_old_logs()
                expected.append(f"late {late}")
                for run in runs:
                    JobLog.objects.create(run=run, message=expected[-1])
        finally:
            done.set()
            reader.join()
        assert seen
        assert all(lines == expected[: len(lines)] and len(lines) >= 20 for lines in seen)


@pytest.mark.django_db
class TestMoving:
    def test_only_old_logs_of_ended_runs_move(self, settings):
        young, old = ended("young", days=13), ended("old", days=15)
        active = enqueue("work.note")
        JobRun.objects.filter(pk=active.pk).update(created_at=days_ago(99))
        JobLog.objects.create(run=active, message="active", time=days_ago(99))
        silent = ended(days=15)
        assert move_old_logs() == 1
        assert [bool(path_of(run).suffix) for run in (young, old, silent)] == [False, True, False]
        settings.LOG_RETENTION_DAYS_DB = 12
        assert move_old_logs() == 1
        assert JobLog.objects.get().message == "active"

    def test_files_are_small_and_for_their_owner_only(self):
        run = ended(*["the same line again and again"] * 200)
        move_old_logs()
        path = path_of(run)
        assert files() == [path]
        assert path.stat().st_size < 2000
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(directory().stat().st_mode) == 0o700

    def test_it_stops_when_it_is_told_to_and_goes_on_from_there(self, monkeypatch):
        monkeypatch.setattr(logs, "BATCH", 1)
        runs = [ended("line") for _ in range(3)]
        answers = iter([None, None, RuntimeError("stop")])

        def check() -> None:
            if answer := next(answers):
                raise answer

        with pytest.raises(RuntimeError):
            move_old_logs(check=check)
        assert JobLog.objects.count() == 1
        assert move_old_logs() == 1
        assert all(log_lines(run) for run in runs)

    def test_one_who_wakes_up_too_late_changes_nothing(self, monkeypatch):
        """Paused between its file and its transaction, while another moved the log, and more."""
        run = ended("one")
        real, woken = logs._write_file, []

        def pause(run_id, lines):
            ref = real(run_id, lines)
            if not woken:
                woken.append(ref)
                assert move_old_logs() == 1
                JobLog.objects.create(run=run, message="two")
                assert move_old_logs() == 1
            return ref

        monkeypatch.setattr(logs, "_write_file", pause)
        assert move_old_logs() == 0
        assert [line.message for line in log_lines(run)] == ["one", "two"]
        assert files() == [path_of(run)]

    def test_a_full_disk_loses_nothing(self, monkeypatch):
        run = ended("one")

        def full(descriptor):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            move_old_logs()
        assert [line.message for line in log_lines(run)] == ["one"]
        assert files() == []

    def test_files_that_nothing_points_to_go_after_a_day(self):
        run = ended("one")
        move_old_logs()
        used = path_of(run)
        forgotten, just_made = used.with_name("1-dead.jsonl.gz"), used.with_name("1-new.part")
        gone_shelf = directory() / "000777"
        gone_shelf.mkdir()
        of_gone_run = gone_shelf / "777001-0123456789abcdef.jsonl.gz"
        for path in (forgotten, just_made, of_gone_run):
            path.touch()
        yesterday = days_ago(1.1).timestamp()
        for path in (used, forgotten, of_gone_run):
            os.utime(path, (yesterday, yesterday))
        assert remove_forgotten_files() == 2
        assert files() == sorted([used, just_made])
        assert not gone_shelf.exists()


@pytest.mark.races
@pytest.mark.xdist_group("jobs")
def test_a_kill_at_any_instant_loses_no_line_and_doubles_none(tmp_path):
    settings = "tests.work.settings"
    with migrated_site(tmp_path / "data", DJANGO_SETTINGS_MODULE=settings) as site:
        moving = subprocess.run(
            [sys.executable, "-m", "tests.jobs.moving"],
            env=site.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert moving.returncode == 0, moving.stderr
    assert int(moving.stdout.split()[0]) > 10


@pytest.mark.django_db
class TestRetention:
    def left(self) -> set[int]:
        return set(JobRun.objects.values_list("pk", flat=True))

    def test_old_runs_go_with_their_logs_and_files(self):
        old, young = ended("old", days=91), ended("young", days=89)
        move_old_logs()
        JobLog.objects.create(run=old, message="late")
        file = path_of(old)
        removed = remove_old_rows()
        assert removed["runs"] == 1
        assert self.left() == {young.pk}
        assert not file.exists()
        assert path_of(young).exists()
        assert not JobLog.objects.exists()

    def test_a_chain_goes_as_a_whole_when_its_last_attempt_is_old(self):
        first = ended(days=100)
        second = ended(days=95, retry_of=first, attempt=2)
        third = ended(days=80, retry_of=second, attempt=3)
        whole = ended(days=100)
        whole_too = ended(days=95, retry_of=whole, attempt=2)
        assert remove_old_rows()["runs"] == 2
        assert self.left() == {first.pk, second.pk, third.pk}
        JobRun.objects.filter(pk=third.pk).update(finished_at=days_ago(91))
        JobRun.objects.filter(pk=third.pk).update(created_at=days_ago(91))
        assert remove_old_rows()["runs"] == 3
        assert whole_too.pk not in self.left()

    def test_what_is_active_stays_however_old(self):
        first = ended(days=100)
        waiting = retry_run(first, actor="olive")
        active = enqueue("work.note")
        JobRun.objects.exclude(pk=first.pk).update(created_at=days_ago(100))
        assert remove_old_rows()["runs"] == 0
        assert self.left() == {first.pk, waiting.pk, active.pk}

    def test_workers_events_and_the_audit_have_their_time_too(self):
        for days in (91, 89):
            Worker.objects.create(
                name=f"w{days}", node="n", role="short", host="h", pid=1, stopped_at=days_ago(days)
            )
            for processed in (days_ago(days), None):
                TriggerEvent.objects.create(
                    type="t",
                    dedupe_key=f"{days} {processed}",
                    created_at=days_ago(days),
                    processed_at=processed,
                )
        Worker.objects.create(name="here", node="n", role="short", host="h", pid=1)
        for days in (366, 364):
            entry = AuditEntry.objects.create(actor="a", action="b", target_type="c", target_id="d")
            AuditEntry.objects.filter(pk=entry.pk).update(time=days_ago(days))
        removed = remove_old_rows()
        assert removed == {"runs": 0, "workers": 1, "events": 1, "audit": 1, "files": 0}
        assert set(Worker.objects.values_list("name", flat=True)) == {"w89", "here"}
        assert TriggerEvent.objects.count() == 3
        assert AuditEntry.objects.count() == 1

    def test_batches_are_short_and_it_can_be_stopped_between_them(self, monkeypatch):
        monkeypatch.setattr(retention, "BATCH", 2)
        for _ in range(5):
            ended(days=91)
        answers = iter([None, None, RuntimeError("stop")])

        def check() -> None:
            if answer := next(answers):
                raise answer

        with pytest.raises(RuntimeError):
            remove_old_rows(check=check)
        assert len(self.left()) == 1
        assert remove_old_rows()["runs"] == 1

    def test_the_result_of_the_nightly_job_says_what_went(self):
        ended(days=91)
        run = perform(enqueue("site.remove_old_jobs"))
        assert run.result["runs"] == 1
