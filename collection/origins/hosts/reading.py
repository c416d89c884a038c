"""Taking an answer apart without trusting it: what is not as promised is `NotUnderstood`."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, NoReturn

from collection.models.commit import BRANCH_LENGTH, PERSON_LENGTH, SUBJECT_LENGTH

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# What git itself allows in no name of a branch.
NO_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/-]|[/.]$|\.lock$")
# Text that a database cannot hold: NUL, and halves of characters.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
MOST_LINES = 10**12
MOST_VALUES = 3_000_000


class NotUnderstood(Exception):
    """An answer that the API does not promise. It carries nothing of it."""


def parse(body: bytes) -> Any:
    # Three bytes can become a hundred in memory: what would be millions of rows is not read.
    if sum(map(body.count, (b"[", b"{", b","))) > MOST_VALUES:
        raise NotUnderstood
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        # Not JSON, a number of thousands of digits, or brackets in brackets without end.
        raise NotUnderstood from None


def _no_number(text: str) -> NoReturn:
    raise ValueError("JSON has no such number")


def rows(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise NotUnderstood
    return value


def table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise NotUnderstood
    return value


def inner(value: Any, *names: str) -> Mapping[str, Any]:
    """A table in a table, by its way."""
    for name in names:
        value = table(value).get(name)
    return table(value)


def sha(value: Any) -> str:
    if not isinstance(value, str) or not SHA.fullmatch(value):
        raise NotUnderstood
    return value


def text(value: Any, *, longest: int) -> str:
    """A name that nobody gave may be missing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NotUnderstood
    return UNSTORABLE.sub("\ufffd", value[:longest])


def person(value: Any) -> str:
    return text(value, longest=PERSON_LENGTH)


def subject(message: Any) -> str:
    """As git shows it: the lines before the first empty one, in one."""
    # A message can be megabytes long; what it is about is in front.
    head = text(message, longest=SUBJECT_LENGTH * 20)
    lines = [line.rstrip() for line in head.split("\n")]
    first = next((number for number, line in enumerate(lines) if line), len(lines))
    told = takewhile(bool, lines[first:])
    return " ".join(told)[:SUBJECT_LENGTH]


def lines(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_LINES:
        raise NotUnderstood
    return value


def moment(value: Any) -> datetime:
    if not isinstance(value, str) or len(value) > 64:
        raise NotUnderstood
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise NotUnderstood from None
    if found.tzinfo is None:
        raise NotUnderstood
    try:
        return found.astimezone(UTC)
    except OverflowError:  # in the first or the last hours that there are
        return found.replace(tzinfo=UTC)


def path(value: Any) -> str:
    """The path of a file in a tree. Git knows none of the odd ones: who sends one means harm."""
    if not isinstance(value, str) or UNSTORABLE.search(value):
        raise NotUnderstood
    if any(part in ("", ".", "..") for part in value.split("/")):
        raise NotUnderstood
    return value


def branch(value: Any) -> str:
    """The name of a branch; empty for one that git would not take, or that is too long to store."""
    if not isinstance(value, str):
        raise NotUnderstood
    fits = len(value) <= BRANCH_LENGTH and not UNSTORABLE.search(value)
    return value if fits and value != "HEAD" and not NO_BRANCH.search(value) else ""


def plain(body: bytes) -> str:
    return UNSTORABLE.sub("\ufffd", body.decode("utf-8", "replace"))
