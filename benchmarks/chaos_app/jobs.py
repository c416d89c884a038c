"""The kinds of work that are killed. They are no part of the site."""

from typing import Any

from benchmarks.chaos_app import asking, diary, effects
from glossary_site.jobs.choices import Lane
from glossary_site.jobs.errors import PermanentFailure
from glossary_site.jobs.registry import job
from glossary_site.jobs.session import Session

# What is killed every time deserves to fail. Here we kill on purpose, and want all to succeed.
MANY = 200
TOLD_TO_FAIL = "told to fail"


@job("chaos.quick", lane=Lane.SHORT, timeout=120, retries=MANY)
def quick(session: Session, key: str) -> None:
    with diary.written(session, key), session.finishing({"key": key}):
        effects.add(session, key, 0)


@job("chaos.tick", lane=Lane.SHORT, timeout=120, retries=MANY, schedulable=True)
def tick(session: Session, event: dict[str, Any] | None = None) -> None:
    """Started by the clock, and by events."""
    first = session.run
    while first.retry_of is not None:
        first = first.retry_of
    key = f"tick:{first.pk}"
    with diary.written(session, key), session.finishing():
        effects.add(session, key, 0)


@job("chaos.long", lane=Lane.LONG, timeout=600, retries=MANY)
def long(session: Session, key: str, steps: int, pause: float) -> dict[str, int]:
    """Goes on where the attempt before it was killed."""
    with diary.written(session, key):
        done = effects.steps_done(key)
        for step in range(steps):
            if step not in done:
                session.wait(pause)
                diary.note("step", session, key)
                with session.atomic():
                    effects.add(session, key, step)
            session.progress(step + 1, steps)
    return {"steps": steps, "found": len(done)}


@job("chaos.flaky", lane=Lane.SHORT, timeout=120, retries=MANY)
def flaky(session: Session, key: str, failures: int) -> None:
    with diary.written(session, key):
        if session.run.attempt <= failures:
            raise RuntimeError(f"{TOLD_TO_FAIL} {failures} times")
        with session.finishing():
            effects.add(session, key, 0)


@job("chaos.hopeless", lane=Lane.SHORT, timeout=120, retries=2)
def hopeless(session: Session, key: str, permanent: bool) -> None:
    with diary.written(session, key), session.atomic():
        effects.add(session, key, 0)
        raise PermanentFailure(TOLD_TO_FAIL) if permanent else RuntimeError(TOLD_TO_FAIL)


@job("chaos.overdue", lane=Lane.LONG, timeout=2, retries=MANY)
def overdue(session: Session, key: str) -> None:
    """Too slow the first time."""
    with diary.written(session, key):
        if session.run.attempt == 1:
            session.wait(60)
        with session.finishing():
            effects.add(session, key, 0)


@job(asking.TAKE, lane=Lane.SHORT, timeout=120, retries=MANY)
def take_answers(session: Session, asked: dict[str, Any]) -> None:
    with diary.written(session, asked["key"]), session.finishing():
        asking.take(session, asking.Asked(**asked))
