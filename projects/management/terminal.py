"""What commands that work for a while share: a line that is written over, and a quiet log."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from unicodedata import east_asian_width

from glossary_site.jobs.errors import PermanentFailure
from glossary_site.jobs.management.tables import shortened

BAR_WIDTH = 30
ERASE = "\r\x1b[K"


def bar(done: float, total: int) -> str:
    filled = min(BAR_WIDTH, round(BAR_WIDTH * done / total)) if total else 0
    return "█" * filled + "░" * (BAR_WIDTH - filled)


def fitting(text: str, columns: int) -> str:
    """As much of it as one line of a terminal holds: a longer one could not be written over."""
    line = shortened(text, columns)
    while sum(1 + (east_asian_width(sign) in "WF") for sign in line) > columns:
        line = shortened(line, len(line) - 1)
    return line


# From here on the site's own log is shown as well, and from there on where a failure came from.
LOUD, LOUDEST = 2, 3


@contextmanager
def quieter(*, verbosity: int, traceback: bool) -> Iterator[None]:
    """The log as a person at a terminal wants it: what failed is said in a sentence."""
    with (
        without_chatter() if verbosity < LOUD else nullcontext(),
        nullcontext() if traceback or verbosity >= LOUDEST else without_tracebacks(),
    ):
        yield


@contextmanager
def without_chatter() -> Iterator[None]:
    """What the site tells its operators of work that goes well is in the log of that work. What
    goes wrong stays: the log of a temporary project goes with it."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


class Briefly(logging.Formatter):
    """As another one writes it, but for the traceback."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self._formatter = formatter

    def format(self, record: logging.LogRecord) -> str:
        # Of a copy: others may keep the traceback, as the log of a job does.
        brief = copy(record)
        brief.exc_info = brief.exc_text = None
        return self._formatter.format(brief)


def is_news(record: logging.LogRecord) -> bool:
    """Not a failure for good: its text is shown to people, by the command."""
    return not (record.exc_info and isinstance(record.exc_info[1], PermanentFailure))


@contextmanager
def without_tracebacks() -> Iterator[None]:
    before = [
        (handler, handler.formatter or logging.Formatter())
        for handler in logging.root.handlers
        if isinstance(handler, logging.StreamHandler)
    ]
    for handler, formatter in before:
        handler.setFormatter(Briefly(formatter))
        handler.addFilter(is_news)
    try:
        yield
    finally:
        for handler, formatter in before:
            handler.setFormatter(formatter)
            handler.removeFilter(is_news)
