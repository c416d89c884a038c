"""What is to go wrong, and for which requests."""

import random
import threading
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tests.llm_peer.wire import Response, json_response

# Refusals: the request is not worked on, and this is all the client gets.
REFUSALS = {
    "rate_limit": (429, "rate_limit_exceeded", "Rate limit reached for requests."),
    "server_error": (500, "server_error", "The server had an error."),
    "unavailable": (503, "unavailable", "The engine is currently overloaded."),
    "bad_request": (400, "invalid_request_error", "This request is not valid."),
    "refused_key": (401, "invalid_api_key", "Incorrect API key provided."),
    "forbidden": (403, "forbidden", "This key may not use this model."),
    "unknown_model": (404, "model_not_found", "The model does not exist."),
    "quota": (429, "insufficient_quota", "You exceeded your current quota."),
    "no_batches": (404, "not_found", "Not Found"),
    "redirect": (307, "redirect", "Somewhere else."),
}
# The request is worked on (and would be billed), and then the answer suffers.
LOSSES = {"hang", "cut_before", "cut_midway", "malformed", "empty_body"}
# The answer arrives well formed, and is not what was asked for.
CONTENTS = {"break_schema", "not_json", "truncated", "refusal", "no_choices", "no_usage"}
# The same for vectors: one too few, one of another length, one that has no numbers, in another
# order (numbered rightly), with a number that comes twice, and none of them a vector.
VECTORS = {
    "vector_missing",
    "vector_short",
    "vector_nan",
    "vectors_shuffled",
    "vectors_misnumbered",
    "vectors_nested",
}
# "slow" only takes the given `delay`; "hold" keeps requests waiting until the faults are cleared.
KINDS = {"slow", "hold", *REFUSALS, *LOSSES, *CONTENTS, *VECTORS}

BATCH_PATHS = ("/v1/files", "/v1/batches")


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong. All its conditions must hold; with none, it always happens.

    nth: only the nth request it looks at (from 1); every: each nth of them;
    match: a substring of the body; path: how the path starts;
    probability with seed: the same requests fail in the same order again;
    times: only so often, then never again ("the next k requests");
    in_batches: for lines within a batch, and not for requests of their own.
    """

    kind: str
    nth: int | None = None
    every: int | None = None
    match: str = ""
    path: str = ""
    probability: float | None = None
    seed: int = 0
    times: int | None = None
    in_batches: bool = False
    delay: float = 0.0
    retry_after: float | None = None
    http_date: bool = False
    status: int | None = None
    code: str = ""
    message: str = ""
    location: str = ""
    # A refusal that comes although the work was done, such as a gateway giving up on its backend.
    worked: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"No fault is called {self.kind!r}; there are {sorted(KINDS)}.")

    @property
    def refuses(self) -> bool:
        return self.kind in REFUSALS

    @property
    def loses(self) -> bool:
        return self.kind in LOSSES

    def response(self) -> Response:
        status, code, message = REFUSALS[self.kind]
        headers = {"Location": self.location} if self.location else {}
        if self.retry_after is not None:
            headers["Retry-After"] = self._retry_after()
        content = error(self.code or code, self.message or message)
        return json_response(self.status or status, content, headers)

    def _retry_after(self) -> str:
        assert self.retry_after is not None
        if not self.http_date:
            return f"{self.retry_after:g}"
        # The header has whole seconds: rounded up, or the wait could be over before it began.
        moment = datetime.now(UTC) + timedelta(seconds=self.retry_after + 0.999)
        return format_datetime(moment, usegmt=True)


def error(code: str, message: str, *, param: str | None = None) -> dict[str, Any]:
    kind = "invalid_request_error" if code != "server_error" else code
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


@dataclass
class _Armed:
    fault: Fault
    looked_at: int = 0
    happened: int = 0
    dice: random.Random = field(default_factory=random.Random)


class Faults:
    """The faults in force; safe to change from any thread while requests come in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._armed: list[_Armed] = []

    def add(self, kind: str, **conditions: Any) -> Fault:
        fault = Fault(kind, **conditions)
        if kind == "no_batches" and not fault.path:
            for path in BATCH_PATHS:
                self._arm(replace(fault, path=path))
        else:
            self._arm(fault)
        return fault

    def clear(self) -> None:
        with self._lock:
            self._armed.clear()

    def __contains__(self, fault: Fault) -> bool:
        with self._lock:
            return any(armed.fault is fault for armed in self._armed)

    def listed(self) -> list[dict[str, Any]]:
        with self._lock:
            return [{**asdict(a.fault), "happened": a.happened} for a in self._armed]

    def pick(self, path: str, body: str, *, in_batch: bool = False) -> Fault | None:
        """The first that applies. Those behind it do not count this request."""
        with self._lock:
            for armed in self._armed:
                if armed.fault.in_batches == in_batch and _applies(armed, path, body):
                    armed.happened += 1
                    return armed.fault
        return None

    def _arm(self, fault: Fault) -> None:
        with self._lock:
            self._armed.append(_Armed(fault, dice=random.Random(fault.seed)))


def _applies(armed: _Armed, path: str, body: str) -> bool:
    fault = armed.fault
    if not path.startswith(fault.path) or fault.match not in body:
        return False
    if fault.times is not None and armed.happened >= fault.times:
        return False
    armed.looked_at += 1
    if fault.nth is not None and armed.looked_at != fault.nth:
        return False
    if fault.every is not None and armed.looked_at % fault.every:
        return False
    return fault.probability is None or armed.dice.random() < fault.probability
