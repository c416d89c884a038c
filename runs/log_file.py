"""The log of a run as a text, for operators: with the tracebacks, which nobody else is shown."""

from collections.abc import Iterator

from django.utils import timezone

from runs.models import Run, RunLog

CHUNK = 500


def log_text(run: Run) -> Iterator[str]:
    rows = RunLog.objects.filter(run=run).order_by("number")
    for line in rows.iterator(chunk_size=CHUNK):
        moment = timezone.localtime(line.created_at).isoformat(" ", "milliseconds")
        step = f" {line.step}" if line.step else ""
        yield f"{moment} {line.level:<7}{step} {line.message}\n"
        if line.traceback:
            yield f"{line.traceback.rstrip()}\n"
