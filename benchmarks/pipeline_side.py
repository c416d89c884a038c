"""Plays the worker for `benchmarks.pipeline`.

python -m benchmarks.pipeline_side run TERMS
python -m benchmarks.pipeline_side sequential QUESTIONS
python -m benchmarks.pipeline_side together QUESTIONS CONCURRENCY STEP …
"""

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import django
from openai import OpenAI

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
django.setup()

from glossary_site.llm.models import LLMProcess  # noqa: E402
from projects.access import OPERATOR  # noqa: E402
from projects.services.projects import create_project  # noqa: E402
from runs.models import Run  # noqa: E402
from tests.runs.manual import make_manual  # noqa: E402
from tests.runs.working import start_run, work_on  # noqa: E402


def run(count: int, seed: int) -> dict[str, object]:
    project = create_project(actor=OPERATOR, name=f"Ship {seed}")
    make_manual(project, count, seed)
    begun = start_run(project, "from_terms")
    began, processor = time.perf_counter(), time.process_time()
    ended = work_on(begun)
    seconds, worked = time.perf_counter() - began, time.process_time() - processor
    assert ended.status == "completed", ended.error_message
    assert ended.failure_count == 0
    return _told(ended, seconds, worked)


def _told(run: Run, seconds: float, processor: float) -> dict[str, object]:
    asking = 0.0
    steps = {}
    for step in run.steps.all():
        if step.process_id is None:
            continue
        process = LLMProcess.objects.get(pk=step.process_id)
        steps[step.step] = process.total
        assert process.finished_at is not None
        asking += (process.finished_at - process.created_at).total_seconds()
    return {
        "terms": run.refined.count(),
        "requests": run.requests - run.served,
        "steps": steps,
        "seconds": seconds,
        "processor": processor,
        "other": seconds - asking,
    }


def sequential(questions: Path) -> float:
    client = OpenAI(
        base_url=os.environ["GLOSSARY_LLM_BASE_URL"], api_key="none", max_retries=0, timeout=30
    )
    bodies = [json.loads(line) for line in questions.read_text().splitlines()]
    began = time.perf_counter()
    for body in bodies:
        client.chat.completions.create(**body)
    return time.perf_counter() - began


async def together(questions: Path, concurrency: int, steps: Sequence[int]) -> float:
    """The same at so many connections, a step after the other, by somebody who does nothing but
    send and read: no client could be done sooner with this server on this machine."""
    address = urlsplit(os.environ["GLOSSARY_LLM_BASE_URL"])
    head = f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
    bodies = (line.encode() for line in questions.read_text().splitlines())

    async def ask(waiting: Iterator[bytes]) -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for body in waiting:
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200 "), answer
            length = answer.lower().split(b"content-length:")[1].split(b"\r\n")[0]
            await reader.readexactly(int(length))
        writer.close()

    began = time.perf_counter()
    for count in steps:
        waiting = iter(list(islice(bodies, count)))
        await asyncio.gather(*(ask(waiting) for _ in range(min(concurrency, count))))
    return time.perf_counter() - began


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "run":
        # As the processes of a worker are started.
        gc.freeze()
        # Of two runs the second finds loaded what a worker loads once: clients, tokenizers, words.
        print(json.dumps([run(int(given[0]), seed) for seed in (1, 2)]))
    elif what == "sequential":
        print(sequential(Path(given[0])))
    else:
        print(asyncio.run(together(Path(given[0]), int(given[1]), [int(n) for n in given[2:]])))
