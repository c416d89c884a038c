"""Executes LLM processes and is killed, at instants that chance chooses, or at every one.

    python -m tests.llm.crashing sync|batch INSTANTS SEED
    python -m tests.llm.crashing sync|batch every STRIDE

A program of its own, because a process with threads (a test runner has some) must not fork. Each
instant is a line of the code that keeps the books; a child is killed (`SIGKILL`) when it comes to
it, and another one has to finish the work. The provider is a process of its own too, and its ledger
has the last word about what was asked how often.
"""

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import UUID, uuid4

import django
from django.db import connections

django.setup()

from django.conf import settings  # noqa: E402

from glossary_site.jobs.choices import State  # noqa: E402
from glossary_site.jobs.models import JobRun  # noqa: E402
from glossary_site.jobs.services import transitions  # noqa: E402
from glossary_site.llm.choices import ProcessStatus, Strategy  # noqa: E402
from glossary_site.llm.models import LLMJob, LLMProcess, Spending  # noqa: E402
from glossary_site.llm.services import ledger, processes, queue, rows  # noqa: E402
from glossary_site.llm.strategies import (  # noqa: E402
    asks,
    batch,
    batch_collect,
    batch_submit,
    books,
    sync,
)
from glossary_site.management.commands.worker import load_before_forking  # noqa: E402
from tests.llm.working import questions, session_for  # noqa: E402
from tests.llm_server import RemoteServer, server_process  # noqa: E402

TRACED = {
    module.__file__
    for module in (asks, batch, batch_collect, batch_submit, books, ledger, processes, rows, sync)
}
REQUESTS = 6
# An answer that had left the provider so shortly before the kill had not been written down yet.
ON_THE_WAY_SECONDS = 0.5
PATIENCE_SECONDS = 60


def enqueue(strategy: Strategy) -> UUID:
    number = uuid4()
    asked = [
        {"key": each.key, "messages": [{"role": "user", "content": f"{number} {each.key}"}]}
        for each in questions(REQUESTS)
    ]
    queue.enqueue(number, asked, strategy=strategy)
    return number


def turn(process_id: UUID) -> None:
    session = session_for(LLMProcess.objects.get(pk=process_id))
    try:
        session.perform()
    except Exception as error:
        session.fail(error)
        raise


def in_child(process_id: UUID, instant: int | None) -> bool:
    """Whole turns in a child until the process has ended. True: it was killed at this instant."""
    load_before_forking()
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        left = instant or -1

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in TRACED:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        code = 1
        try:
            if instant is not None:
                sys.settrace(trace)
            until = time.monotonic() + PATIENCE_SECONDS
            while not LLMProcess.objects.get(pk=process_id).ended:
                assert time.monotonic() < until, "it does not come to an end"
                turn(process_id)
                time.sleep(0.05)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return True
    assert status == 0, "the execution failed"
    return False


def bury(process_id: UUID) -> None:
    """What the sweep does to the run of a dead worker."""
    run = LLMProcess.objects.get(pk=process_id).run
    assert run is not None
    while following := JobRun.objects.filter(retry_of=run).first():
        run = following
    if run.state == State.ASSIGNED:
        transitions.orphan(run)
    elif run.state == State.RUNNING:
        transitions.end(run, State.FAILED, error="killed", again=transitions.Again.BLAMELESS)
    elif run.ended:
        processes.recover(process_id)


def check(process_id: UUID, server: RemoteServer, killed_at: float | None) -> None:
    process = LLMProcess.objects.get(pk=process_id)
    assert process.status == ProcessStatus.COMPLETED, process.facts()
    assert (process.completed, process.failed) == (REQUESTS, 0), process.facts()
    with queue.consume(process_id) as results:
        assert [result.key for result in results] == [each.key for each in questions(REQUESTS)]
    assert not LLMJob.objects.filter(process_id=process_id).exists()
    for month in Spending.objects.all():
        assert (month.reserved_tokens, month.reserved_nano) == (0, 0), "still kept back"
    seen: dict[str, list[Any]] = {}
    for entry in server.requests:
        if str(process_id) in entry.body:
            seen.setdefault(entry.fingerprint, []).append(entry)
    assert len(seen) == REQUESTS
    for first, *again in seen.values():
        assert len(again) <= 1, "more than twice"
        if again:
            assert process.strategy == Strategy.SYNC, "a batch was paid twice"
            assert killed_at is not None
            assert first.at <= killed_at, "it was not on the wire"
            assert killed_at <= (first.ended_at or killed_at) + ON_THE_WAY_SECONDS, (
                "it was answered"
            )


def once(strategy: Strategy, server: RemoteServer, instant: int) -> bool:
    process_id = enqueue(strategy)
    killed = in_child(process_id, instant)
    killed_at = time.time() if killed else None
    if killed:
        bury(process_id)
        in_child(process_id, None)
    check(process_id, server, killed_at)
    return killed


def main(strategy: str, how: str, number: str) -> None:
    settings.LLM_BATCH_POLL_SECONDS = 0.05
    kills = 0
    with (
        tempfile.TemporaryDirectory(prefix="llm-crashes-") as directory,
        server_process(
            ledger=Path(directory) / "ledger.sqlite3", delay=0.05, batch_seconds=0.05
        ) as server,
    ):
        settings.LLM = {
            **settings.LLM,
            "base_url": server.base_url,
            "model": "peer-small",
            "concurrency": 3,
        }
        if how == "every":
            while once(Strategy(strategy), server, int(number) * (kills + 1)):
                kills += 1
        else:
            dice = random.Random(int(number))
            for _ in range(int(how)):
                kills += once(Strategy(strategy), server, dice.randrange(1, 900))
    sys.stdout.write(f"{kills} kills\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
