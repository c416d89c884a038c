"""What apps have looked after every few seconds, by the one keeper that leads.

For safety nets: short, and harmless when done twice, because leadership may change hands in the
middle. What takes longer is a job, which a round may enqueue.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, connection

from glossary_site.jobs.registry import discover

logger = logging.getLogger(__name__)

Function = Callable[[], object]


@dataclass
class Round:
    function: Function
    seconds: float
    last: float = float("-inf")


_rounds: list[Round] = []


def every(seconds: float) -> Callable[[Function], Function]:
    """Registers a function; it belongs into an app's `jobs.py`."""

    def register(function: Function) -> Function:
        _rounds.append(Round(function, seconds))
        return function

    return register


def make_rounds() -> None:
    """Call those whose time has come. One that fails does not keep the others from their turn."""
    discover()
    for round in _rounds:
        now = time.monotonic()
        if now - round.last < round.seconds:
            continue
        round.last = now
        try:
            round.function()
        except Exception as error:
            if isinstance(error, DatabaseError | InterfaceError) and not connection.is_usable():
                raise
            logger.exception("The round “%s” failed", round.function.__name__)
