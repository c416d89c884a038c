"""The LLM processes of a chaos run, and what must be true of them: each asks its questions once,
and nothing is paid twice but what was on the wire when its worker was killed."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from benchmarks.chaos_checks import Evidence, Run, seconds
from benchmarks.chaos_questions import AGAIN, process_id
from benchmarks.chaos_records import Database
from tests.llm_peer.ledger import Entry

QUESTION = re.compile(r"question (\d+\.\d+) of chaos")
# Between the server's answer and the commit that keeps it, an answer is as good as on the wire.
WRITING_SECONDS = 0.7
# How far apart the times of different witnesses may be.
CLOCKS = 0.3


class Accounts:
    """The provider's ledger beside ours."""

    def __init__(self, database: Database, evidence: Evidence, entries: list[Entry]) -> None:
        self._evidence = evidence
        self._paid: dict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            question = QUESTION.search(entry.body)
            if entry.charged and question:
                self._paid[question[1]].append(entry)
        self._status = {
            str(pk).replace("-", ""): (status, consumed, error)
            for pk, status, consumed, error in database.rows(
                "SELECT id, status, consumed_at, error FROM llm_llmprocess"
            )
        }
        self._left = database.value("SELECT count(*) FROM llm_llmjob")
        self._reserved = database.value(
            "SELECT coalesce(sum(reserved_tokens + reserved_nano), 0) FROM llm_spending"
        )
        self._spent = database.value("SELECT coalesce(sum(used_tokens), 0) FROM llm_spending")
        self._booked, self._used = database.rows(
            "SELECT coalesce(sum(booked_tokens), 0), coalesce(sum(input_tokens + output_tokens), 0)"
            " FROM llm_llmprocess"
        )[0]
        self._turns: dict[str, list[Run]] = defaultdict(list)
        for run in evidence.runs.values():
            if run.kind == "llm.process":
                pk = json.loads(run.payload)["process_id"]
                self._turns[pk.replace("-", "")].append(run)
        self.excused = 0

    def breaches(self, jobs: dict[int, dict[str, Any]], *, cancelled: set[int]) -> Iterator[str]:
        """`jobs`: the payload of each number that was handed out."""
        for number, payload in jobs.items():
            yield from self._unfinished(payload, cancellable=number in cancelled)
            yield from self._paid_twice(payload)
        if self._left:
            yield f"{self._left} requests are left in the queue"
        if self._reserved:
            yield f"{self._reserved} tokens are still kept back"
        if not self._spent >= self._booked == self._used:
            yield f"spent {self._spent} tokens, booked {self._booked}, used {self._used}"

    def summary(self) -> dict[str, int]:
        return {
            "LLM processes": len(self._status),
            "LLM requests paid": sum(map(len, self._paid.values())),
            "paid again, on the wire at a kill": self.excused,
        }

    def _unfinished(self, payload: dict[str, Any], *, cancellable: bool) -> Iterator[str]:
        key = payload["key"]
        keys = [key, f"{key}:{AGAIN}"] if payload[AGAIN] and not cancellable else [key]
        for each in keys:
            pk = process_id(each).hex
            status, consumed, error = self._status.get(pk, ("missing", None, ""))
            ended = status == "COMPLETED" or (cancellable and status == "CANCELLED")
            if not ended or consumed is None:
                yield f"{each}: the process is {status}, consumed {consumed}: {error[:200]}"
            for n in range(payload["requests"]):
                count = self._evidence.effects[f"{each}:{n}", 0]
                if count > 1 or (status == "COMPLETED" and count != 1):
                    failed = self._evidence.effects[f"{each}:{n}", 1]
                    yield f"{each}: answer {n} was taken {count} times ({failed} failures)"
            if self._evidence.effects[f"{each}:mixed up", 0]:
                yield f"{each}: an answer belongs to another question"

    def _paid_twice(self, payload: dict[str, Any]) -> Iterator[str]:
        number = payload["key"].rpartition(":")[2]
        for n in range(payload["requests"]):
            entries = sorted(self._paid[f"{number}.{n}"], key=lambda entry: entry.at)
            for entry, following in pairwise(entries):
                if entry.batch_id or not self._on_the_wire(payload, entry):
                    yield (
                        f"{payload['key']}: question {number}.{n} ({payload['strategy']}) was paid "
                        f"at {entry.at:.2f}–{entry.ended_at:.2f} ({entry.batch_id or 'alone'}) "
                        f"and again at {following.at:.2f}"
                    )
                else:
                    self.excused += 1

    def _on_the_wire(self, payload: dict[str, Any], entry: Entry) -> bool:
        """Whether the attempt that sent it was struck before the answer could be kept."""
        assert entry.ended_at is not None
        for key in (payload["key"], f"{payload['key']}:{AGAIN}"):
            for run in self._turns[process_id(key).hex]:
                if run.state == "SUCCEEDED" or run.started_at is None:
                    continue
                began, ended = seconds(run.started_at), seconds(run.finished_at)
                if not began - CLOCKS <= entry.at <= ended + CLOCKS:
                    continue
                for first, last in self._blows(run, began, ended):
                    if entry.at - CLOCKS <= last and first <= entry.ended_at + WRITING_SECONDS:
                        return True
        return False

    def _blows(self, run: Run, began: float, ended: float) -> Iterator[tuple[float, float]]:
        """Between which times its worker was killed or paused, or its database cut off; or its
        process went, which others than we may have killed (a watchdog, itself). A run that ended
        badly in a process that nobody touched, and that went on, excuses nothing."""
        pid = int(run.worker.rpartition(":")[2])
        for note in self._evidence.kills:
            touched = note["what"] == "cut" or (pid in note["pids"] and note["what"] != "wake")
            if touched and began - CLOCKS <= note["wall"] <= ended + CLOCKS:
                yield note.get("since", note["wall"]), note["wall"]
