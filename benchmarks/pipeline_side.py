"""Plays the worker for `benchmarks.pipeline`.

python -m benchmarks.pipeline_side run TERMS
python -m benchmarks.pipeline_side sequential QUESTIONS
"""

import gc
import json
import os
import sys
import time
from pathlib import Path

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


if __name__ == "__main__":
    if sys.argv[1] == "run":
        # As the processes of a worker are started.
        gc.freeze()
        # Of two runs the second finds loaded what a worker loads once: clients, tokenizers, words.
        print(json.dumps([run(int(sys.argv[2]), seed) for seed in (1, 2)]))
    else:
        print(sequential(Path(sys.argv[2])))
