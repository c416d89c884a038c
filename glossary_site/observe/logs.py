"""How a log line looks: JSON for programs, or a readable line; never with a secret in it.

Both say what is bound (`trace.bound`) where the line is logged, and what it was given as `extra`.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from glossary_site.observe import trace
from glossary_site.observe.masking import MASK, is_secret_name, mask

# What every record has; the rest came as `extra`.
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# Enough of a trace id to find the others, where a person reads.
SHORT_ID = 8
SERVER_ERROR = 500


class JsonLines(logging.Formatter):
    """One line is one JSON object, whatever happened: an exception is a field of it."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time_of(record),
            "level": record.levelname,
            "logger": record.name,
            "message": mask(record.getMessage()),
            "pid": record.process,
            **trace.current(),
        }
        for name, value in extra(record).items():
            line.setdefault(name, value)
        if record.exc_info:
            line["exception"] = mask(self.formatException(record.exc_info))
        if record.stack_info:
            line["stack"] = mask(record.stack_info)
        # A UUID is text here; Japanese stays readable.
        return json.dumps(line, default=str, ensure_ascii=False)


class TextLines(logging.Formatter):
    """For a person at a terminal; what is bound stands at the end of the first line."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname:<7} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:
        said = {**trace.current(), **extra(record)}
        said.pop("span_id", None)
        if "trace_id" in said:
            said["trace_id"] = said["trace_id"][:SHORT_ID]
        words = " ".join(f"{name}={value}" for name, value in said.items())
        return super().formatMessage(record) + (f" [{words}]" if words else "")

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))


class BrieflyRefused(logging.Filter):
    """Django adds the traceback of every answer that an exception made. Of one that refuses a
    request it says nothing that the line does not say."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Only Django's lines about a request have a status.
        if getattr(record, "status_code", SERVER_ERROR) < SERVER_ERROR:
            record.exc_info = record.exc_text = None
        return True


def time_of(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def extra(record: logging.LogRecord) -> dict[str, Any]:
    """What the line was given besides its words. Only plain values: Django adds whole requests."""
    return {
        name: MASK if is_secret_name(name) else mask(value) if isinstance(value, str) else value
        for name, value in vars(record).items()
        if name not in STANDARD and isinstance(value, (str, int, float))
    }
