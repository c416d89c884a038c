"""What commands that work for a while share: a line that is written over, and a quiet log."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from unicodedata import east_asian_width

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
