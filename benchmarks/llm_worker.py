"""Plays the worker for `benchmarks.llm`: enqueues, executes and consumes one process here.

    python -m benchmarks.llm_worker speed REQUESTS
    python -m benchmarks.llm_worker memory REQUESTS SECONDS

Prints what it saw as one line of JSON. Memory is the largest this process ever had.
"""

import json
import os
import re
import sys
import time
import uuid
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import django

# As long as a question about a section of a document.
TEXT = "A section of a document about the harbour, its pilots and its cranes. " * 60


def main(what: str, count: int, seconds: float = 0.0) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
    django.setup()
    # As a worker does before it forks the processes that take jobs.
    import_module("openai")
    print(json.dumps(speed(count) if what == "speed" else memory(count, seconds)))


def questions(count: int) -> Iterator[dict]:
    for number in range(count):
        content = f"Question {number}: which terms are in this?\n{TEXT}"
        yield {"key": str(number), "messages": [{"role": "user", "content": content}]}


def speed(count: int) -> dict[str, float]:
    from glossary_site.jobs.delivery import deliver
    from glossary_site.llm.models import LLMProcess
    from glossary_site.llm.services import queue

    process = queue.enqueue(uuid.uuid4(), questions(count))
    began, processor = time.monotonic(), time.process_time()
    deliver(process.run_id)
    took, worked = time.monotonic() - began, time.process_time() - processor
    process = LLMProcess.objects.get(pk=process.pk)
    assert process.completed == count, process.facts()
    with queue.consume(process.pk) as results:
        assert [result.key for result in results] == [str(number) for number in range(count)]
    return {"seconds": took, "processor": worked}


def memory(count: int, seconds: float) -> dict[str, float]:
    from django.conf import settings

    from glossary_site.jobs.delivery import deliver
    from glossary_site.llm.models import LLMProcess
    from glossary_site.llm.services import queue

    settings.LLM_TURN_SECONDS = seconds
    began = time.monotonic()
    process = queue.enqueue(uuid.uuid4(), questions(count))
    seen = {"enqueue_seconds": time.monotonic() - began, "enqueued": peak()}
    deliver(process.run_id)
    process = LLMProcess.objects.get(pk=process.pk)
    seen |= {"executed": peak(), "done": process.done}
    if not process.ended:
        queue.cancel(process.pk, actor="benchmark")
    with queue.consume(process.pk) as results:
        assert sum(1 for _ in results) == count
    return seen | {"consumed": peak()}


def peak() -> float:
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:]))
