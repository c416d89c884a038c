"""LLM processes whose answers are taken by a job that follows them."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks import chaos_questions
from benchmarks.chaos_app import effects
from glossary_site.jobs.session import Session
from glossary_site.llm.choices import Strategy
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import queue

TAKE = "chaos.take_answers"


@dataclass(frozen=True)
class Asked:
    """One process, as the producer hands it out and as the job that follows gets it."""

    key: str
    requests: int
    strategy: str
    # Whether the same is asked a second time when the answers are there.
    again: bool
    scope: str

    @property
    def number(self) -> str:
        return self.key.removesuffix(f":{chaos_questions.AGAIN}")


def ask(**asked: Any) -> LLMProcess:
    about = Asked(**asked)
    return queue.enqueue(
        chaos_questions.process_id(about.key),
        chaos_questions.requests(about.number, about.requests),
        scope=about.scope,
        strategy=Strategy(about.strategy),
        then=(TAKE, {"asked": asked}),
    )


def stop(key: str) -> None:
    queue.cancel(chaos_questions.process_id(key), actor="chaos")


def take(session: Session, about: Asked) -> None:
    """Within the transaction that ends the job. What is asked a second time is in the ledger."""
    answered = 0
    with queue.consume(chaos_questions.process_id(about.key)) as results:
        for result in results:
            answered += result.ok
            effects.add(session, f"{about.key}:{result.key}", 0 if result.ok else 1)
            if result.ok and not chaos_questions.fits(about.number, result.key, result.content):
                effects.add(session, f"{about.key}:mixed up", 0)
    if about.again and answered == about.requests:
        key = f"{about.key}:{chaos_questions.AGAIN}"
        ask(**asdict(replace(about, key=key, again=False)))
