"""Plays the worker for `benchmarks.pipeline`.

python -m benchmarks.pipeline_side run TERMS
python -m benchmarks.pipeline_side sequential QUESTIONS
"""

import gc
import json
import os
import random
import sys
import time
from pathlib import Path

import django
from openai import OpenAI

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
django.setup()

from glossary_site.llm.models import LLMProcess  # noqa: E402
from projects.access import OPERATOR  # noqa: E402
from projects.choices import Source  # noqa: E402
from projects.models import Project  # noqa: E402
from projects.services.documents import store_document  # noqa: E402
from projects.services.projects import create_project  # noqa: E402
from projects.services.terms import add_term  # noqa: E402
from runs.models import Run  # noqa: E402
from tests.runs.working import start_run, work_on  # noqa: E402

# Terms and sentences of two made-up parts each, so that every term has passages of its own.
FIRST = ("amber", "birch", "cedar", "delta", "ember", "fjord", "gale", "heron", "iris", "juniper")
# fmt: off
SECOND = (
    "anchor", "beacon", "clutch", "damper", "engine", "filter", "gauge", "hinge", "injector",
    "jacket", "keel", "lever", "motor", "nozzle", "outlet", "piston", "rudder", "sensor",
    "tiller", "valve",
)
USES = ("holds", "turns", "checks", "carries", "limits", "opens", "drains", "feeds", "guards")
# What else sentences are made of; no two of them come out alike.
WORDS = (
    "while", "before", "after", "because", "although", "quickly", "slowly", "seldom", "often",
    "below", "above", "behind", "between", "cargo", "harbour", "bridge", "weather", "current",
    "tide", "signal", "captain", "engineer", "deck", "cabin", "hull", "ballast", "pressure",
    "temperature", "voltage", "reading", "measure", "replace", "inspect", "record", "report",
    "adjust", "remove", "every", "second", "morning", "voyage", "winter", "storm", "repair",
    "inventory", "schedule", "manual", "inspection", "margin",
)
# fmt: on
WORDS_A_SENTENCE = 26
SENTENCES_A_TERM = 6


def names(count: int, seed: int) -> list[str]:
    """Others for another seed: the ledger knows no answers about them."""
    pairs = [(first, second) for second in SECOND for first in FIRST]
    return [" ".join(pair if seed % 2 else reversed(pair)) for pair in pairs][:count]


def write_documents(project: Project, terms: list[str], seed: int) -> None:
    """As long for each term as a manual would be: most get a request of their own."""
    dice = random.Random(seed)
    for place in range(0, len(terms), 10):
        chapters = [
            f"## {term}\n\n{_chapter(term, terms, dice)}\n" for term in terms[place : place + 10]
        ]
        store_document(
            project=project,
            path=f"manual/{place:03}.md",
            content="# Manual\n\n" + "\n".join(chapters),
            source=Source.API,
            actor=OPERATOR,
        )


def _chapter(term: str, terms: list[str], dice: random.Random) -> str:
    sentences = [
        f"A {term} is a part of the ship that {dice.choice(USES)} the {dice.choice(terms)}."
    ]
    for _ in range(SENTENCES_A_TERM):
        words = dice.choices(WORDS, k=WORDS_A_SENTENCE)
        words[3] = f"the {term} {dice.choice(USES)}"
        words[12] = f"the {dice.choice(terms)}"
        sentences.append(" ".join(words).capitalize() + ".")
    return "\n\n".join(sentences)


def run(count: int, seed: int) -> dict[str, object]:
    project = create_project(actor=OPERATOR, name=f"Ship {seed}")
    terms = names(count, seed)
    write_documents(project, terms, seed)
    for term in terms:
        add_term(project=project, text=term, actor=OPERATOR)
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
