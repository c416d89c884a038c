"""The two kinds of files of the Batch API: requests that go up, answers that come down.

Both are written to disk and read line by line: whole batches are never in memory.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any
from uuid import UUID

from django.utils.translation import gettext as _

from glossary_site.llm.requests import written
from glossary_site.llm.strategies.batch_api import ENDPOINT
from glossary_site.llm.troubles import reason_in, words_in

# Lines that the provider did not get round to. They are sent again.
NOT_EXECUTED = frozenset({"batch_expired", "batch_cancelled", "batch_canceled"})


@dataclass(frozen=True)
class Line:
    """What a provider says about one request of a batch."""

    job_id: UUID
    status: int
    # Of a chat completion, where the status is 200.
    body: Any = None
    error: str = ""
    # The same for programs.
    reason: str = ""
    executed: bool = True


def line_for(job_id: UUID, body: dict[str, Any]) -> bytes:
    line = {"custom_id": str(job_id), "method": "POST", "url": ENDPOINT, "body": body}
    return written(line).encode() + b"\n"


def read_lines(file: IO[bytes]) -> Iterator[Line]:
    """What cannot be read is passed over: its request counts as not answered."""
    file.seek(0)
    # In binary mode a line ends with a line feed and nothing else, whatever a text says.
    for raw in file:
        try:
            line = _line(json.loads(raw))
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        yield line


def _line(said: dict[str, Any]) -> Line:
    job_id = UUID(said["custom_id"])
    if said.get("error"):
        error = said["error"]
        code = str(error.get("code") or "")
        message = str(error.get("message") or code or _("no reason given"))
        return Line(job_id, 500, error=message, executed=code not in NOT_EXECUTED)
    response = said["response"]
    status = int(response.get("status_code") or 200)
    body = response.get("body")
    if isinstance(body, str):
        # Some servers write the body as a text of JSON.
        body = json.loads(body)
    if status == 200:
        return Line(job_id, status, body=body)
    why = words_in(body) or _("no reason given")
    return Line(job_id, status, error=f"{status}: {why}", reason=reason_in(body))
