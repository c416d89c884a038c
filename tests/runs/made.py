"""Runs as they are after the fact, made row by row: for what reads them, and never runs one."""

from datetime import timedelta
from itertools import count

from django.utils import timezone

from projects.models import Project
from runs.choices import ACTIVE, STEPS, IssueKind, Scope, Status
from runs.models import (
    ProvisionalEntry,
    RefinedEntry,
    Run,
    RunDocument,
    RunFailure,
    RunIssue,
    RunLog,
    RunStep,
    RunTerm,
)

_serial = count(1)


def make_run(
    project: Project,
    *,
    status: Status = Status.COMPLETED,
    scope: Scope = Scope.FULL,
    done: int | None = None,
    **fields,
) -> Run:
    """With its steps, of which the first `done` are finished: all of them by default."""
    now = timezone.now()
    if status != Status.PENDING:
        fields.setdefault("started_at", now - timedelta(seconds=90))
    if status not in ACTIVE:
        fields.setdefault("finished_at", now - timedelta(seconds=30))
    if status == Status.FAILED:
        fields.setdefault("error_message", "The server is away.")
    run = Run.objects.create(project=project, status=status, scope=scope, **fields)
    steps = STEPS[scope]
    finished = len(steps) if done is None else done
    RunStep.objects.bulk_create(
        RunStep(
            run=run,
            step=step,
            order=order,
            started_at=run.started_at if order <= finished else None,
            finished_at=now if order < finished else None,
        )
        for order, step in enumerate(steps)
    )
    for document in project.documents.all():
        RunDocument.objects.create(
            run=run,
            document_id=document.pk,
            path=document.path,
            file_hash=document.file_hash,
            version=document.version,
        )
    return run


def entry_fields(run: Run, term: str, definition: str, **fields) -> dict:
    usual = {
        "run": run,
        "term": term,
        "key": term.lower(),
        "language": "en",
        "order": next(_serial),
        "definition": definition,
        "confidence": 0.9,
        "category": "technical_term",
    }
    return usual | fields


def add_entries(run: Run, entries: dict[str, str], *, refined: bool = True, **fields) -> None:
    """Term → definition: provisional, and refined unless told otherwise."""
    rows = [entry_fields(run, term, text, **fields) for term, text in entries.items()]
    ProvisionalEntry.objects.bulk_create(ProvisionalEntry(**row) for row in rows)
    if refined:
        RefinedEntry.objects.bulk_create(RefinedEntry(**row) for row in rows)


def add_term(run: Run, text: str, **fields) -> RunTerm:
    usual = {"key": text.lower(), "language": "en", "order": next(_serial), "frequency": 3}
    return RunTerm.objects.create(run=run, text=text, **(usual | fields))


def add_issue(run: Run, term: str, **fields) -> RunIssue:
    usual = {
        "key": term.lower(),
        "kind": IssueKind.UNCLEAR,
        "description": "It does not say what it is.",
        "order": next(_serial),
    }
    return RunIssue.objects.create(run=run, term=term, **(usual | fields))


def add_failure(run: Run, term: str, **fields) -> RunFailure:
    usual = {"step": "generate", "key": term.lower(), "error": "No answer came."}
    failure = RunFailure.objects.create(run=run, term=term, **(usual | fields))
    run.failure_count = run.failures.count()
    run.save(update_fields=["failure_count"])
    return failure


def add_lines(run: Run, *messages: str, **fields) -> None:
    RunLog.objects.bulk_create(
        RunLog(run=run, number=number, message=message, **fields)
        for number, message in enumerate(messages, start=run.log_count + 1)
    )
    run.log_count += len(messages)
    run.save(update_fields=["log_count"])
