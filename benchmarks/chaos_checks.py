"""What must be true after a chaos run, whatever was killed. Each check returns its breaches."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.chaos_producer import LLM, read, what_for
from benchmarks.chaos_records import Database

# The table of the site's design, written down once more: a judge does not ask the accused.
ALLOWED = {
    ("PENDING", "ASSIGNED"),
    ("PENDING", "CANCELED"),
    ("ASSIGNED", "RUNNING"),
    ("ASSIGNED", "ORPHANED"),
    ("ASSIGNED", "CANCELED"),
    ("ORPHANED", "ASSIGNED"),
    ("ORPHANED", "CANCELED"),
    ("RUNNING", "SUCCEEDED"),
    ("RUNNING", "FAILED"),
    ("RUNNING", "TIMED_OUT"),
    ("RUNNING", "CANCELED"),
}
EVERY_MINUTE = ("every minute", "one at a time")
ACTIVE = ("PENDING", "ASSIGNED", "ORPHANED", "RUNNING")


@dataclass(frozen=True)
class Run:
    id: int
    kind: str
    state: str
    attempt: int
    max_attempts: int
    retry_of: int | None
    key: str | None
    error: str
    scheduled_for: Any
    definition: str | None
    payload: str
    worker: str
    started_at: Any
    finished_at: Any


@dataclass
class Evidence:
    """Everything there is to judge by, read once at the end."""

    seed: str
    runs: dict[int, Run]
    next_attempt: dict[int, Run]
    effects: Counter[tuple[str, int]]
    changes: list[tuple[Any, ...]]
    reigns: list[tuple[Any, ...]]
    book: list[dict[str, Any]]
    diary: list[dict[str, Any]]
    kills: list[dict[str, Any]]
    feeds: list[tuple[Any, ...]]
    # What was acknowledged, and what each event that is there has started.
    told: set[int]
    events: dict[str, list[int]]
    by_key: dict[str, list[Run]] = field(default_factory=dict)

    def numbers(self, what: str) -> set[int]:
        """The numbers in the producer's book with this word."""
        return {line["number"] for line in self.book if line["what"] == what}

    def last_of(self, run: Run) -> Run:
        while run.id in self.next_attempt:
            run = self.next_attempt[run.id]
        return run

    def first_of(self, run_id: int) -> int:
        while (before := self.runs[run_id].retry_of) is not None:
            run_id = before
        return run_id


def seconds(moment: Any) -> float:
    """A time as either database gives it."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    return float(moment.timestamp())


def gather(database: Database, *, seed: str, directory: Path) -> Evidence:
    runs = {
        row[0]: Run(*row)
        for row in database.rows(
            "SELECT r.id, r.kind, r.state, r.attempt, r.max_attempts, r.retry_of_id, "
            "r.idempotency_key, r.error, r.scheduled_for, d.name, CAST(r.payload AS text), "
            "r.assigned_worker, r.started_at, r.finished_at FROM jobs_jobrun r "
            "LEFT JOIN jobs_jobdefinition d ON d.id = r.definition_id ORDER BY r.id"
        )
    }
    evidence = Evidence(
        seed=seed,
        runs=runs,
        next_attempt={run.retry_of: run for run in runs.values() if run.retry_of is not None},
        effects=Counter(database.rows("SELECT key, step FROM chaos_effect")),
        changes=database.rows(
            "SELECT run_id, old_state, new_state, old_version, new_version, worker "
            "FROM chaos_change ORDER BY id"
        ),
        reigns=database.rows("SELECT epoch, holder FROM chaos_reign ORDER BY id"),
        book=read(directory / "book"),
        diary=read(directory / "diary"),
        kills=read(directory / "kills"),
        feeds=database.rows(
            "SELECT stream_id, count(*), min(number), max(number), count(DISTINCT number) "
            "FROM live_event GROUP BY stream_id"
        ),
        told={line["number"] for line in read(directory / "events")},
        events=_events(database),
    )
    for run in runs.values():
        if run.key is not None:
            evidence.by_key.setdefault(run.key, []).append(run)
    return evidence


def _events(database: Database) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for key, run in database.rows(
        "SELECT e.dedupe_key, r.jobrun_id FROM jobs_triggerevent e "
        "LEFT JOIN jobs_triggerevent_runs r ON r.triggerevent_id = e.id"
    ):
        found.setdefault(key, []).extend([] if run is None else [run])
    return found


def nothing_lost(evidence: Evidence) -> Iterator[str]:
    """Every key that was handed out has one chain, and it came to the end that it was told to."""
    fresh = Counter(line["number"] for line in evidence.book if line.get("fresh"))
    done, cancelled = evidence.numbers("done"), evidence.numbers("cancelling")
    for number in sorted(evidence.numbers("trying")):
        kind, payload = what_for(evidence.seed, number)
        if fresh[number] > 1:
            yield f"{payload['key']} was said to be new {fresh[number]} times"
        if kind == LLM:
            continue
        runs = evidence.by_key.get(payload["key"], [])
        if not runs:
            if number in done:
                yield f"{payload['key']} ({kind}) was enqueued and is not there"
            continue
        last = evidence.last_of(runs[0])
        yield from _wrong_end(kind, payload, last, cancellable=number in cancelled)
        yield from _wrong_effects(evidence, kind, payload, last)


def _wrong_end(kind: str, payload: dict, last: Run, *, cancellable: bool) -> Iterator[str]:
    expected = "FAILED" if kind == "chaos.hopeless" else "SUCCEEDED"
    if last.state != expected and not (cancellable and last.state == "CANCELED"):
        yield (
            f"{payload['key']} ({kind}) ended as {last.state} at attempt {last.attempt} of "
            f"{last.max_attempts}, run {last.id}: {last.error[:200]}"
        )
    elif kind == "chaos.hopeless" and last.state == "FAILED":
        told = "told to fail" in last.error
        if not (told and payload["permanent"]) and last.attempt < last.max_attempts:
            yield f"{payload['key']} gave up after attempt {last.attempt}: {last.error[:200]}"


def _wrong_effects(evidence: Evidence, kind: str, payload: dict, last: Run) -> Iterator[str]:
    steps = range(payload.get("steps", 1))
    for step in steps:
        count = evidence.effects[payload["key"], step]
        if count > 1:
            yield f"{payload['key']} step {step} took effect {count} times"
        if last.state == "SUCCEEDED" and count == 0:
            yield f"{payload['key']} step {step} succeeded without its effect"
        if kind != "chaos.long" and last.state != "SUCCEEDED" and count:
            yield f"{payload['key']} ended as {last.state} and left an effect"


def started_by_themselves(evidence: Evidence) -> Iterator[str]:
    """Runs by the clock, by events and of the site itself: all came to a good end, once. (A turn of
    an LLM process may be killed too often; the process is then taken up by another.)"""
    ours = {what_for(evidence.seed, line["number"])[1]["key"] for line in evidence.book}
    for run in evidence.runs.values():
        if run.retry_of is not None or run.key in ours or run.kind == "llm.process":
            continue
        last = evidence.last_of(run)
        skipped = last.state == "CANCELED" and last.error.startswith("Skipped")
        if last.state != "SUCCEEDED" and not skipped:
            yield f"{run.kind} run {run.id} ended as {last.state}: {last.error[:200]}"
        if run.kind == "chaos.tick":
            count = evidence.effects[f"tick:{run.id}", 0]
            if count != (last.state == "SUCCEEDED"):
                yield f"tick run {run.id} ({last.state}) took effect {count} times"


def no_slot_left_out(evidence: Evidence) -> Iterator[str]:
    """A definition that runs every minute has a run for every minute, and one only."""
    slots: dict[str, list[float]] = defaultdict(list)
    for run in evidence.runs.values():
        if run.scheduled_for is not None and run.definition in EVERY_MINUTE:
            slots[run.definition].append(seconds(run.scheduled_for))
    for name, times in slots.items():
        for earlier, later in pairwise(sorted(times)):
            if later - earlier != 60:
                yield f"“{name}” has runs {later - earlier:.0f} s apart, at {later}"


def events_count_once(evidence: Evidence) -> Iterator[str]:
    """Every event that was acknowledged has started its one run."""
    for number in evidence.told:
        if f"ping:{number}" not in evidence.events:
            yield f"event {number} was acknowledged and is not there"
    for key, runs in evidence.events.items():
        if len(runs) != 1:
            yield f"event {key} started {len(runs)} runs"


def all_came_to_rest(evidence: Evidence) -> Iterator[str]:
    for run in evidence.runs.values():
        if run.state in ACTIVE:
            yield f"run {run.id} ({run.kind}) is still {run.state}, attempt {run.attempt}"


def never_backwards(evidence: Evidence) -> Iterator[str]:
    """Every committed change is an allowed move, and the version says so."""
    seen: dict[int, tuple[str | None, int | None]] = {}
    for run, old_state, new_state, old_version, new_version, _worker in evidence.changes:
        where = f"run {run}: {old_state} v{old_version} → {new_state} v{new_version}"
        if run not in seen:
            if (old_state, new_state, new_version) != (None, "PENDING", 1):
                yield f"{where} was its first change"
        elif seen[run] != (old_state, old_version):
            yield f"{where} follows {seen[run]}"
        seen[run] = (new_state, new_version)
        if old_state is None:
            continue
        if new_state is None:
            yield f"{where}: removed"
        elif old_state != new_state:
            if (old_state, new_state) not in ALLOWED:
                yield f"{where} is not allowed"
            if new_version != old_version + 1:
                yield f"{where} changed its state without its version"
        elif new_version < old_version:
            yield f"{where} went back"


def one_at_a_time(evidence: Evidence) -> Iterator[str]:
    """By the rows: never two attempts of a chain running at once."""
    running: dict[int, int] = {}
    for run, _old, new_state, _old_version, _new_version, _worker in evidence.changes:
        chain = evidence.first_of(run)
        if new_state == "RUNNING":
            other = running.setdefault(chain, run)
            if other != run:
                yield f"runs {other} and {run} of one chain were running at once"
        elif running.get(chain) == run:
            del running[chain]


def no_work_behind_our_back(evidence: Evidence) -> Iterator[str]:
    """By the diary: nobody went on with a job after another had begun it, except for one who was
    paused while he had it (whom the database then refused)."""
    executions: dict[str, dict[tuple[int, int], list[float]]] = defaultdict(dict)
    for line in evidence.diary:
        times = executions[line["key"]].setdefault((line["run"], line["pid"]), [])
        times.append(line["time"])
    pauses = [(k["pids"][0], k["time"]) for k in evidence.kills if k["what"].startswith("pause")]
    for key, by_process in executions.items():
        ordered = sorted(by_process.items(), key=lambda item: item[1][0])
        for (earlier, times), (later, later_times) in pairwise(ordered):
            late = times[-1] - later_times[0]
            paused = any(p == earlier[1] and times[0] <= t <= times[-1] for p, t in pauses)
            if late > 0 and not paused:
                yield (
                    f"{key}: run {earlier[0]} in process {earlier[1]} was at work {late:.2f} s "
                    f"after run {later[0]} in process {later[1]} had begun"
                )


def epochs_rise(evidence: Evidence) -> Iterator[str]:
    before, holder = 0, ""
    for epoch, name in evidence.reigns:
        if epoch < before or epoch > before + 1:
            yield f"epoch {epoch} follows {before}"
        elif epoch == before and name != holder and before:
            yield f"epoch {epoch} has two leaders: {holder} and {name}"
        before, holder = epoch, name


def llm_jobs(evidence: Evidence) -> dict[int, dict[str, Any]]:
    """What was asked of a provider, by number."""
    found = {}
    for number in evidence.numbers("done"):
        kind, payload = what_for(evidence.seed, number)
        if kind == LLM:
            found[number] = payload
    return found


def feed_has_no_gap(evidence: Evidence) -> Iterator[str]:
    """What pages were told of it: each feed is numbered without a hole or a double."""
    for stream, count, first, last, distinct in evidence.feeds:
        if (first, last, distinct) != (1, count, count):
            yield f"feed {stream}: {count} events, numbered {first} to {last}, {distinct} distinct"


CHECKS = (
    nothing_lost,
    started_by_themselves,
    events_count_once,
    no_slot_left_out,
    all_came_to_rest,
    never_backwards,
    one_at_a_time,
    no_work_behind_our_back,
    epochs_rise,
    feed_has_no_gap,
)


def breaches(evidence: Evidence) -> list[str]:
    return [f"{check.__name__}: {text}" for check in CHECKS for text in check(evidence)]


def summary(evidence: Evidence) -> dict[str, int]:
    states = Counter(run.state for run in evidence.runs.values())
    moves = Counter((old, new) for _run, old, new, *_ in evidence.changes if old != new)
    return {
        "jobs": sum(run.retry_of is None for run in evidence.runs.values()),
        "attempts": len(evidence.runs),
        "effects": sum(evidence.effects.values()),
        "events": len(evidence.events),
        "started by the clock": sum(r.scheduled_for is not None for r in evidence.runs.values()),
        "orphaned": moves["ASSIGNED", "ORPHANED"],
        "failed or timed out, tried again": sum(
            run.state in ("FAILED", "TIMED_OUT") and run.id in evidence.next_attempt
            for run in evidence.runs.values()
        ),
        "cancelled": states["CANCELED"],
        "leader epochs": max((epoch for epoch, _ in evidence.reigns), default=0),
    }
