"""A run's log, wherever it is: in the database, or (when it is old) in a compressed file.

A file holds the log of one run, a JSON object a line, so that a page reads nothing but its own. Its
name is in the run's `log_ref`, relative to the directory of logs.
"""

import gzip
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Self

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.jobs.models import JobLog, JobRun

logger = logging.getLogger(__name__)

PAGE = 200
# As many runs share a directory.
SHARED_BY = 1000
REF = re.compile(r"(?P<shelf>\d{6,})/(?P<run>\d+)-[0-9a-f]{16}\.jsonl\.gz", re.A)
TRIES = 5


@dataclass(frozen=True)
class LogLine:
    id: int
    time: datetime
    level: str
    message: str

    @classmethod
    def of(cls, row: JobLog) -> Self:
        return cls(row.pk, row.time, row.level, row.message)

    @classmethod
    def parse(cls, text: str) -> Self:
        fields = json.loads(text)
        return cls(**{**fields, "time": datetime.fromisoformat(fields["time"])})

    def __str__(self) -> str:
        return json.dumps({**asdict(self), "time": self.time.isoformat()}, ensure_ascii=False)


class Unreadable(Exception):
    """The file of a log is gone or damaged."""


def log_lines(run: JobRun, *, after: int = 0, limit: int = PAGE) -> list[LogLine]:
    """The next lines after the one with this number (its `id`), oldest first."""
    for _try in range(TRIES):
        # In this order: whoever moves the log deletes rows and sets `log_ref` in one transaction.
        # A line that is not among the rows any more is then in the file.
        rows = JobLog.objects.filter(run=run, pk__gt=after).order_by("pk")[:limit]
        lines = {row.pk: LogLine.of(row) for row in rows}
        ref = JobRun.objects.filter(pk=run.pk).values_list("log_ref", flat=True).first()
        if not ref:
            return list(lines.values())
        try:
            kept = islice(read_file(ref, run_id=run.pk, after=after), limit)
            lines |= {line.id: line for line in kept}
        except FileNotFoundError:
            # It may just have been replaced by a longer one.
            if JobRun.objects.filter(pk=run.pk, log_ref=ref).exists():
                return _without_file(run, after, [*lines.values()])
            continue
        except Unreadable as error:
            logger.error("The log of job %d cannot be read: %s", run.pk, error)
            return _without_file(run, after, [*lines.values()])
        return sorted(lines.values(), key=lambda line: line.id)[:limit]
    return []


def directory() -> Path:
    return Path(settings.DATA_DIR) / "logs"


def shelf_of(run_id: int) -> str:
    return f"{run_id // SHARED_BY:06}"


def path_of(ref: str, *, run_id: int) -> Path:
    """A name from the database leads nowhere but to the file of that run."""
    match = REF.fullmatch(ref)
    if match is None or match["shelf"] != shelf_of(run_id) or match["run"] != str(run_id):
        raise Unreadable(f"“{ref}” is not the name of its log file")
    return directory() / ref


def read_file(ref: str, *, run_id: int, after: int = 0) -> Iterator[LogLine]:
    path = path_of(ref, run_id=run_id)
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for text in file:
                line = LogLine.parse(text)
                if line.id > after:
                    yield line
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{ref}: {error}") from error


def _without_file(run: JobRun, after: int, lines: list[LogLine]) -> list[LogLine]:
    """What there is, and at its beginning a word about what is not."""
    if after:
        return lines
    # A number of its own, so that a reader who goes on from it does not come back to it.
    number = lines[0].id - 1 if lines else 1
    time = run.finished_at or timezone.now()
    message = _("The file with the log of this job is missing or damaged.")
    return [LogLine(number, time, JobLog.Level.WARNING, message), *lines]
