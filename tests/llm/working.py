"""Doing in a test what the workers do to LLM processes, and saying what is asked."""

from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from glossary_site.jobs.models import JobRun
from glossary_site.jobs.session import Session, claim
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.requests import Request, Result
from glossary_site.llm.services import queue

WORKER = "test:long:1"
SCHEMA = {
    "type": "object",
    "properties": {"term": {"type": "string"}, "count": {"type": "integer", "minimum": 0}},
    "required": ["term", "count"],
    "additionalProperties": False,
}


def asking(text: str, *, key: str = "", **options: Any) -> Request:
    return Request(key=key or text, messages=[{"role": "user", "content": text}], **options)


def questions(count: int, **options: Any) -> list[Request]:
    return [asking(f"question {number}", **options) for number in range(count)]


def enqueued(requests: Any, **options: Any) -> LLMProcess:
    return queue.enqueue(uuid4(), requests, **options)


def reloaded(process: LLMProcess) -> LLMProcess:
    return LLMProcess.objects.get(pk=process.pk)


def session_for(process: LLMProcess) -> Session:
    """The run of a process, begun here as a delivery would begin it."""
    run = latest_run(process)
    # As the sweep does when its time has come.
    JobRun.objects.filter(pk=run.pk).waiting().update(rung_at=timezone.now())
    session = claim(run.pk, worker=WORKER)
    assert session is not None, f"{run} is {run.state}"
    return session


def latest_run(process: LLMProcess) -> JobRun:
    """Its run, or the attempt that followed it."""
    run = reloaded(process).run
    assert run is not None
    while following := JobRun.objects.filter(retry_of=run).first():
        run = following
    return run


def work(process: LLMProcess) -> LLMProcess:
    """One turn, as a worker would do it."""
    session = session_for(process)
    try:
        session.perform()
    except Exception as error:
        session.fail(error)
    return reloaded(process)


def work_to_end(process: LLMProcess, turns: int = 20) -> LLMProcess:
    for _ in range(turns):
        process = work(process)
        if process.ended:
            return process
    raise AssertionError(f"still {process.status} after {turns} turns")


def answers(process: LLMProcess | UUID) -> list[Result]:
    return list(queue.results(process if isinstance(process, UUID) else process.pk))
