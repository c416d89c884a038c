"""One batch: its lines, its status and what it becomes.

validating ─► in_progress ─► finalizing ─► completed
    │             │    └──► expired            (what was done is kept)
    └► failed     └► cancelling ─► cancelled   (what was done is kept)
"""

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

LIVE = ("validating", "in_progress", "finalizing", "cancelling")
TERMINAL = ("completed", "failed", "expired", "cancelled")


@dataclass(frozen=True)
class Line:
    custom_id: str
    url: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """How a batch is to end. `after`: so many of its lines are executed before it expires."""

    ending: str = "completed"
    after: int = 0
    message: str = "The input file could not be used."

    def __post_init__(self) -> None:
        if self.ending not in {"completed", "expired", "failed"}:
            raise ValueError(f"A batch cannot be planned to end {self.ending!r}.")


@dataclass
class Batch:
    endpoint: str
    input_file_id: str
    window: str
    metadata: dict[str, str] | None
    plan: Plan
    id: str = field(default_factory=lambda: f"batch_{uuid4().hex}")
    began: float = field(default_factory=time.monotonic)
    status: str = "validating"
    times: dict[str, int] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    output: list[dict[str, Any]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    output_file_id: str | None = None
    error_file_id: str | None = None
    executed: int = 0

    def __post_init__(self) -> None:
        self.times["created_at"] = int(time.time())
        self.times["expires_at"] = self.times["created_at"] + 24 * 3600

    @property
    def live(self) -> bool:
        return self.status in LIVE

    def become(self, status: str) -> None:
        self.status = status
        self.times[f"{status}_at"] = int(time.time())

    def expire_the_rest(self) -> None:
        """A provider names the lines it did not get round to."""
        code, message = "batch_expired", "This request could not be executed before the deadline."
        self.errors += [
            answer_line(line, None, {"code": code, "message": message})
            for line in self.lines[self.executed :]
        ]

    def described(self) -> dict[str, Any]:
        counted = self.status not in {"validating", "failed"}
        described: dict[str, Any] = {
            "id": self.id,
            "object": "batch",
            "endpoint": self.endpoint,
            "errors": {"object": "list", "data": self.problems} if self.problems else None,
            "input_file_id": self.input_file_id,
            "completion_window": self.window,
            "status": self.status,
            "output_file_id": self.output_file_id,
            "error_file_id": self.error_file_id,
            "request_counts": {
                "total": len(self.lines) if counted else 0,
                "completed": len(self.output),
                "failed": self.executed - len(self.output),
            },
            "metadata": self.metadata,
        }
        moments = ("created", "in_progress", "expires", "finalizing", "completed", "failed")
        for moment in (*moments, "expired", "cancelling", "cancelled"):
            described[f"{moment}_at"] = self.times.get(f"{moment}_at")
        return described


def answer_line(
    line: Line, response: dict[str, Any] | None, error: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "id": f"batch_req_{uuid4().hex}",
        "custom_id": line.custom_id,
        "response": response,
        "error": error,
    }


def read_lines(
    content: bytes, *, endpoint: str, most: int
) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of an input file, and what is wrong with them, found as a provider finds it."""
    lines: list[Line] = []
    problems: list[dict[str, Any]] = []

    def wrong(code: str, message: str, number: int | None = None) -> None:
        problems.append({"code": code, "message": message, "line": number, "param": None})

    for number, raw in enumerate(content.decode().splitlines(), start=1):
        if not raw.strip():
            continue
        try:
            given = json.loads(raw)
            line = Line(str(given["custom_id"]), given["url"], given["body"])
        except (ValueError, TypeError):
            wrong("invalid_json_line", "This line is not parseable as valid JSON.", number)
        except KeyError as missing:
            wrong("missing_required_parameter", f"Missing: {missing.args[0]}", number)
        else:
            lines.append(line)
            if line.url != endpoint or given.get("method") != "POST":
                wrong("mismatched_endpoint", f"The batch is for POST {endpoint}.", number)
    if not lines and not problems:
        wrong("empty_file", "The input file is empty.")
    if len(lines) > most:
        wrong("too_many_requests", f"A batch has {most} requests at most.")
    repeated = [name for name, n in Counter(line.custom_id for line in lines).items() if n > 1]
    if repeated:
        wrong("duplicate_custom_id", f"The custom id {repeated[0]!r} is used more than once.")
    if len({line.body.get("model") for line in lines}) > 1:
        wrong("mismatched_model", "All requests of a batch use the same model.")
    return lines, problems
