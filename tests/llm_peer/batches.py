"""The Batches API, and what moves batches on: a clock, or a test that says so."""

import asyncio
import json
import random
import re
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.llm_peer.batch import Batch, Line, Plan, answer_line, read_lines
from tests.llm_peer.faults import Fault, Faults, error
from tests.llm_peer.files import Files
from tests.llm_peer.ledger import MODEL_PATHS, Ledger
from tests.llm_peer.wire import Request, Response, json_response, page

Perform = Callable[[str, dict[str, Any], Fault | None], tuple[int, Any]]

# By the clock, a batch is validated in the first tenth of its time and executed until the last.
VALIDATED, EXECUTED = 0.1, 0.9
# Lines executed in one go by the clock: other requests are answered in between.
CHUNK = 200


class Batches:
    def __init__(self, *, faults: Faults, files: Files, seconds: float | None = None) -> None:
        self._faults = faults
        self._files = files
        self._lock = threading.RLock()
        self._batches: dict[str, Batch] = {}
        self._plans: list[Plan] = []
        # How long a batch takes; None: it moves only when told.
        self.seconds = seconds
        self.most_requests = 50_000
        # Two habits that some servers have and a client has to live with.
        self.bodies_as_strings = False
        self.empty_error_files = False

    def connect(self, *, perform: Perform, ledger: Ledger) -> None:
        self._perform = perform
        self._ledger = ledger

    def all(self) -> list[Batch]:
        """The newest first, as they are listed."""
        with self._lock:
            return list(reversed(self._batches.values()))

    # What a client asks for

    def handle(self, request: Request, path: str) -> Response | None:
        if path == "/v1/batches" and request.method == "POST":
            return self._create(request.json())
        if path == "/v1/batches" and request.method == "GET":
            with self._lock:
                return page([b.described() for b in self.all()], request.query, most=100)
        match = re.fullmatch(r"/v1/batches/([^/]+)(/cancel)?", path)
        if not match:
            return None
        with self._lock:
            batch = self._batches.get(match[1])
            if batch is None:
                return json_response(404, error("not_found", f"No batch has the id {match[1]}."))
            if match[2]:
                if not batch.live:
                    message = f"Cannot cancel a batch with status '{batch.status}'."
                    return json_response(409, error("conflict", message))
                batch.become("cancelling")
            return json_response(200, batch.described())

    def _create(self, body: dict[str, Any]) -> Response:
        metadata = body.get("metadata")
        if self._files.find(body.get("input_file_id", "")) is None:
            return json_response(400, error("invalid_file", "No such File object."))
        if body.get("endpoint") not in MODEL_PATHS:
            return json_response(400, error("invalid_endpoint", "No batches of this endpoint."))
        if body.get("completion_window") != "24h":
            return json_response(400, error("invalid_window", "The window is 24h."))
        if metadata and (
            len(metadata) > 16 or any(len(k) > 64 or len(v) > 512 for k, v in metadata.items())
        ):
            return json_response(400, error("invalid_metadata", "The metadata is too large."))
        with self._lock:
            plan = self._plans.pop(0) if self._plans else Plan()
            batch = Batch(body["endpoint"], body["input_file_id"], "24h", metadata, plan)
            self._batches[batch.id] = batch
            return json_response(200, batch.described())

    # What a test asks for

    def plan(self, plan: Plan) -> None:
        """How the next batch to be created will end."""
        with self._lock:
            self._plans.append(plan)

    def advance(self) -> None:
        """Every live batch takes one step."""
        with self._lock:
            for batch in self._live():
                self._step(batch)

    def finish(self) -> None:
        """Every live batch goes as far as it can."""
        with self._lock:
            while self._live():
                self.advance()

    def work(self, lines: int) -> None:
        """Every batch in progress executes so many more lines, and stays in progress."""
        with self._lock:
            for batch in self._live():
                if batch.status == "validating":
                    self._step(batch)
                if batch.status == "in_progress":
                    self._execute(batch, batch.executed + lines)

    def expire(self, *, after: int = 0) -> None:
        """The window of every live batch is over, when `after` lines of it have been executed."""
        with self._lock:
            self.work(lines=0)
            for batch in self._live():
                if batch.status == "in_progress":
                    self._execute(batch, after)
                self._end(batch, "expired")

    def fail(self, message: str) -> None:
        """Every live batch turns out to be unusable."""
        with self._lock:
            for batch in self._live():
                self._refuse(batch, message)

    # The clock

    async def tick(self) -> None:
        while True:
            await asyncio.sleep(0.2 if self.seconds is None else 0.02)
            if self.seconds is not None:
                with self._lock:
                    for batch in self._live():
                        self._catch_up(batch, self.seconds)

    def _catch_up(self, batch: Batch, seconds: float) -> None:
        share = (time.monotonic() - batch.began) / seconds if seconds else 1.0
        if batch.status == "in_progress":
            due = int((share - VALIDATED) / (EXECUTED - VALIDATED) * len(batch.lines))
            goal = self._goal(batch)
            self._execute(batch, min(due, goal, batch.executed + CHUNK))
            if share >= EXECUTED and batch.executed >= goal:
                self._step(batch)
        elif share >= {"validating": VALIDATED, "finalizing": 1, "cancelling": 0}[batch.status]:
            self._step(batch)

    # How a batch moves

    def _live(self) -> list[Batch]:
        return [batch for batch in self._batches.values() if batch.live]

    def _goal(self, batch: Batch) -> int:
        expires = batch.plan.ending == "expired"
        return min(batch.plan.after, len(batch.lines)) if expires else len(batch.lines)

    def _step(self, batch: Batch) -> None:
        if batch.status == "validating":
            self._validate(batch)
        elif batch.status == "in_progress":
            self._execute(batch, self._goal(batch))
            if batch.plan.ending == "expired":
                self._end(batch, "expired")
            else:
                batch.become("finalizing")
        elif batch.status == "finalizing":
            self._end(batch, "completed")
        elif batch.status == "cancelling":
            self._end(batch, "cancelled")

    def _validate(self, batch: Batch) -> None:
        if batch.plan.ending == "failed":
            return self._refuse(batch, batch.plan.message)
        file = self._files.find(batch.input_file_id)
        if file is None:
            return self._refuse(batch, "The input file is gone.")
        batch.lines, batch.problems = read_lines(
            file.content, endpoint=batch.endpoint, most=self.most_requests
        )
        batch.become("failed" if batch.problems else "in_progress")
        return None

    def _refuse(self, batch: Batch, message: str) -> None:
        batch.problems = [{"code": "invalid", "message": message, "line": None, "param": None}]
        batch.become("failed")

    def _execute(self, batch: Batch, goal: int) -> None:
        """Work on the lines up to this one, each a row of the ledger."""
        rows = []
        for line in batch.lines[batch.executed : goal]:
            outcome = self._execute_line(batch, line)
            body = json.dumps(line.body, ensure_ascii=False)
            rows.append((line.url, body, batch.id, line.custom_id, outcome, outcome == "200"))
            batch.executed += 1
        self._ledger.add_answered(rows)

    def _execute_line(self, batch: Batch, line: Line) -> str:
        fault = self._faults.pick(
            line.url, json.dumps(line.body, ensure_ascii=False), in_batch=True
        )
        if fault and fault.loses:
            problem = {"code": "server_error", "message": "The request could not be executed."}
            batch.errors.append(answer_line(line, None, problem))
            return fault.kind
        if fault and fault.refuses:
            refusal = fault.response()
            status, content = refusal.status, json.loads(refusal.body)
        else:
            status, content = self._perform(line.url, line.body, fault)
        body = json.dumps(content, ensure_ascii=False) if self.bodies_as_strings else content
        response = {"status_code": status, "request_id": f"req-{line.custom_id}", "body": body}
        lines = batch.output if status == 200 else batch.errors
        lines.append(answer_line(line, response, None))
        return str(status)

    def _end(self, batch: Batch, status: str) -> None:
        if status == "expired":
            batch.expire_the_rest()
        # Providers promise no order: who relies on one should notice here.
        random.Random(batch.executed).shuffle(batch.output)
        batch.output_file_id = self._keep(batch, "output", batch.output)
        if batch.errors or self.empty_error_files:
            batch.error_file_id = self._keep(batch, "error", batch.errors)
        batch.become(status)

    def _keep(self, batch: Batch, name: str, lines: list[dict[str, Any]]) -> str | None:
        if not lines and name == "output":
            return None
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        return self._files.add(f"{batch.id}_{name}.jsonl", "batch_output", content.encode()).id
