"""How long a host wants us to wait, as its headers say."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Where a host says "too many" and not until when: what GitHub's manual asks for.
UNSAID = 60.0
LONGEST = 24 * 3600.0


def asked_to_wait(headers: Mapping[str, str]) -> float:
    """Seconds, after an answer that refused more."""
    for seconds in (_retry_after(headers), _until_reset(headers)):
        if seconds is not None:
            return _bounded(seconds)
    return UNSAID


def exhausted_for(headers: Mapping[str, str]) -> float:
    """Seconds until the next request, after an answer that was the last one allowed; else 0."""
    if _remaining(headers) != 0:
        return 0.0
    seconds = _until_reset(headers)
    return 0.0 if seconds is None else _bounded(seconds)


def allowed(headers: Mapping[str, str]) -> tuple[int | None, int | None]:
    """How many requests the host allows, and how many more for now, where it says so."""
    limit = _whole(headers.get("X-RateLimit-Limit", headers.get("RateLimit-Limit", "")))
    return limit, _remaining(headers)


def refused_for_now(status: int, headers: Mapping[str, str], body: bytes) -> bool:
    """GitHub says "too many" with 403 as well, as it does "not for you"."""
    if status == 429:
        return True
    return status == 403 and (
        "Retry-After" in headers or _remaining(headers) == 0 or b"rate limit" in body.lower()
    )


def _remaining(headers: Mapping[str, str]) -> int | None:
    return _whole(headers.get("X-RateLimit-Remaining", headers.get("RateLimit-Remaining", "")))


def _until_reset(headers: Mapping[str, str]) -> float | None:
    reset = _whole(headers.get("X-RateLimit-Reset", headers.get("RateLimit-Reset", "")))
    return None if reset is None else reset - _now(headers)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("Retry-After", "")
    seconds = _whole(text)
    if seconds is not None:
        return float(seconds)
    moment = _date(text)
    return None if moment is None else moment.timestamp() - _now(headers)


def _now(headers: Mapping[str, str]) -> float:
    """By the clock of whoever named the moment, which need not go like ours."""
    moment = _date(headers.get("Date", ""))
    return (moment or datetime.now(UTC)).timestamp()


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _whole(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


def _bounded(seconds: float) -> float:
    return min(max(seconds, 1.0), LONGEST)
