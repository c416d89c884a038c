"""The chaos run's judge of money: whom it excuses, and whom it does not."""

import json
from collections import Counter
from datetime import UTC, datetime
from uuid import UUID

import pytest

from benchmarks.chaos_checks import Evidence, Run
from benchmarks.chaos_llm import Accounts
from benchmarks.chaos_questions import process_id
from benchmarks.chaos_records import Database
from tests.llm_peer.ledger import CHAT, Entry

KEY = "chaos:7"
PAYLOAD = {"key": KEY, "requests": 1, "strategy": "sync", "again": False}
WORKER = 4711
# The first answer was on its way for these seconds, in a turn that ended soon after.
SENT, ANSWERED, FAILED = 1000.0, 1000.3, 1003.0


class NoDatabase(Database):
    """What the site itself says about the process: that all went well."""

    def rows(self, sql: str) -> list[tuple]:
        if "booked_tokens" in sql:
            return [(0, 0)]
        return [(UUID(process_id(KEY).hex), "COMPLETED", "then", "")]

    def value(self, sql: str) -> int:
        return 0


def note(what: str, at: float, *pids: int) -> dict:
    return {"what": what, "pids": list(pids), "time": at, "wall": at}


def entry(at: float, *, batch: str = "") -> Entry:
    return Entry(
        id=1,
        at=at,
        method="POST",
        path=CHAT,
        fingerprint="",
        body="question 7.0 of chaos",
        batch_id=batch,
        custom_id="",
        outcome="answered",
        charged=1,
        ended_at=at + ANSWERED - SENT,
    )


def judge(notes: list[dict], *, state: str = "FAILED", batch: str = "") -> list[str]:
    """Of a question that was paid at SENT, and again four seconds later."""
    run = Run(
        id=1,
        kind="llm.process",
        state=state,
        attempt=1,
        max_attempts=4,
        retry_of=None,
        key=None,
        error="",
        scheduled_for=None,
        definition=None,
        payload=json.dumps({"process_id": str(process_id(KEY))}),
        worker=f"host/worker-x:short:{WORKER}",
        started_at=datetime.fromtimestamp(SENT - 1, UTC),
        finished_at=datetime.fromtimestamp(FAILED, UTC),
    )
    evidence = Evidence(
        seed="1",
        runs={1: run},
        next_attempt={},
        effects=Counter({(f"{KEY}:0", 0): 1}),
        changes=[],
        reigns=[],
        book=[],
        diary=[],
        kills=notes,
        feeds=[],
        told=set(),
        events={},
    )
    accounts = Accounts(NoDatabase(), evidence, [entry(SENT, batch=batch), entry(SENT + 4)])
    return list(accounts.breaches({7: PAYLOAD}, cancelled=set()))


@pytest.mark.parametrize(
    "notes",
    [
        [note("kill worker", SENT + 0.1, WORKER)],
        [note("pause worker", SENT + 0.2, WORKER)],
        [note("kill cluster", SENT + 0.1, 1, 2, WORKER)],
        [note("cut", SENT + 0.1)],
        # Nobody of ours, but it was seen to be gone.
        [note("gone", SENT + 0.2, WORKER)],
    ],
    ids=lambda notes: notes[0]["what"],
)
def test_what_was_on_the_wire_when_its_worker_was_struck_is_excused(notes):
    assert judge(notes) == []


@pytest.mark.parametrize(
    "notes",
    [
        [],
        [note("kill worker", SENT + 0.1, WORKER + 1)],
        [note("gone", SENT + 0.1, WORKER + 1)],
        # The answer had been there for long.
        [note("kill worker", SENT + 2, WORKER)],
        [note("gone", SENT + 2, WORKER)],
        [note("kill worker", SENT - 0.9, WORKER)],
        [note("wake", SENT + 0.1, WORKER)],
    ],
    ids=["nobody", "another", "another gone", "later", "gone later", "before", "woken"],
)
def test_what_nobody_struck_is_paid_twice(notes):
    (breach,) = judge(notes)
    assert "question 7.0 (sync) was paid" in breach


def test_a_process_that_was_seen_to_be_gone_went_since_the_look_before():
    gone = note("gone", SENT + 2, WORKER)
    assert judge([gone | {"since": SENT + 0.2}]) == []
    assert judge([gone | {"since": SENT + 1.8}])


def test_a_turn_that_succeeded_and_a_batch_have_no_excuse():
    struck = [note("kill worker", SENT + 0.1, WORKER)]
    assert judge(struck, state="SUCCEEDED")
    assert judge(struck, batch="batch_1")
