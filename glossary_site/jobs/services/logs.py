"""Old logs leave the database for compressed files.

A kill at any instant loses no line and doubles none: a file is whole and safe on the disk under a
name that nothing uses yet, before one transaction deletes the rows and points to it. What a kill
leaves behind is a file that nothing points to, which goes the next time.
"""

import gzip
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from heapq import merge
from operator import attrgetter
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from glossary_site.jobs.choices import TERMINAL
from glossary_site.jobs.logs import (
    SHARED_BY,
    LogLine,
    Unreadable,
    directory,
    path_of,
    read_file,
    shelf_of,
)
from glossary_site.jobs.models import JobLog, JobRun

logger = logging.getLogger(__name__)

BATCH = 50
CHUNK = 2000
# A file that nothing points to may be one that somebody is just about to point to.
FORGOTTEN_AFTER_SECONDS = 24 * 3600

Check = Callable[[], None]


def go_on() -> None:
    """For callers that nobody stops."""


def move_old_logs(*, days: int | None = None, check: Check = go_on) -> int:
    """The logs of runs that ended longer ago; how many runs. `check` may raise, to stop."""
    horizon = timezone.now() - timedelta(days=days or settings.LOG_RETENTION_DAYS_DB)
    old = JobRun.objects.filter(
        Exists(JobLog.objects.filter(run=OuterRef("pk"))),
        state__in=TERMINAL,
        finished_at__lt=horizon,
        # As old at least, and there is an index for it.
        created_at__lt=horizon,
    ).order_by("pk")
    moved, last = 0, 0
    while runs := list(old.filter(pk__gt=last)[:BATCH]):
        copies = []
        for run in runs:
            check()
            if copy := _copy(run):
                copies.append(copy)
        # The names of the files, too: once for all of them, for it takes its time.
        _sync({place for copy in copies for place in (directory(), copy.path.parent)})
        moved += sum(_hand_over(copy) for copy in copies)
        last = runs[-1].pk
    return moved


def remove_files(refs: Iterable[tuple[int, str]]) -> None:
    """The files of runs that are gone, each with the run's number."""
    for run_id, ref in refs:
        try:
            path_of(ref, run_id=run_id).unlink(missing_ok=True)
        except Unreadable as error:
            logger.warning("A log file was not removed: %s", error)


def remove_forgotten_files(*, check: Check = go_on) -> int:
    """Files that no run points to: of a move that was killed, or of a run that is gone."""
    horizon = time.time() - FORGOTTEN_AFTER_SECONDS
    removed = 0
    for shelf in _shelves():
        check()
        first = int(shelf.name) * SHARED_BY
        runs = JobRun.objects.filter(pk__gte=first, pk__lt=first + SHARED_BY)
        used = set(runs.exclude(log_ref="").values_list("log_ref", flat=True))
        for file in shelf.iterdir():
            if f"{shelf.name}/{file.name}" not in used and _written_before(horizon, file):
                file.unlink(missing_ok=True)
                removed += 1
        _remove_if_empty(shelf)
    return removed


@dataclass(frozen=True)
class Copy:
    """The log of a run as it was read, in a file that nothing points to yet."""

    run: JobRun
    ref: str
    rows: list[int]

    @property
    def path(self) -> Path:
        return path_of(self.ref, run_id=self.run.pk)


def _copy(run: JobRun) -> Copy | None:
    # Where a line came late, after an earlier move: that file, and the rest.
    earlier = read_file(run.log_ref, run_id=run.pk) if run.log_ref else iter(())
    copied: list[int] = []

    def rows() -> Iterator[LogLine]:
        for row in JobLog.objects.filter(run=run).order_by("pk").iterator(chunk_size=CHUNK):
            copied.append(row.pk)
            yield LogLine.of(row)

    try:
        ref = _write_file(run.pk, merge(earlier, rows(), key=attrgetter("id")))
    except (FileNotFoundError, Unreadable) as error:
        logger.error("The log of job %d stays where it is: %s", run.pk, error)
        return None
    return Copy(run, ref, copied)


def _hand_over(copy: Copy) -> bool:
    """From the rows to the file, if the log is still as it was read: two who move the same log do
    not undo each other's work."""
    run = copy.run
    with transaction.atomic():
        as_read = JobRun.objects.filter(pk=run.pk, log_ref=run.log_ref)
        ours = as_read.update(log_ref=copy.ref) == 1
        if ours:
            # Exactly those in the file: another may have been written in the meantime.
            for start in range(0, len(copy.rows), CHUNK):
                JobLog.objects.filter(pk__in=copy.rows[start : start + CHUNK]).delete()
    useless = run.log_ref if ours else copy.ref
    if useless:
        remove_files([(run.pk, useless)])
    return ours


def _write_file(run_id: int, lines: Iterable[LogLine]) -> str:
    """Whole and safe on the disk; its name."""
    ref = f"{shelf_of(run_id)}/{run_id}-{secrets.token_hex(8)}.jsonl.gz"
    path = path_of(ref, run_id=run_id)
    for place in (path.parent.parent, path.parent):
        place.mkdir(mode=0o700, exist_ok=True)
    temporary = path.with_suffix(".part")
    try:
        with open(temporary, "xb", opener=_for_owner_only) as file:
            with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
                for line in lines:
                    packed.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return ref


def _for_owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync(directories: Iterable[Path]) -> None:
    for path in directories:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _shelves() -> list[Path]:
    place = directory()
    if not place.is_dir():
        return []
    return sorted(shelf for shelf in place.iterdir() if shelf.is_dir() and shelf.name.isdigit())


def _written_before(moment: float, file: Path) -> bool:
    try:
        return file.stat().st_mtime < moment
    except FileNotFoundError:
        # Somebody else removed it just now.
        return False


def _remove_if_empty(shelf: Path) -> None:
    try:
        shelf.rmdir()
    except OSError:
        # There are files in it, or one has just come.
        return
