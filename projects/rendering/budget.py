"""How much a document may ask of the thread that lays it out.

Parsers of Markdown and HTML have inputs that make them slow, and documents come from anywhere.
What is over the budget is shown as it is written: less pretty, never dangerous, never lost.
"""

import time

# A megabyte of ordinary prose takes a second or two.
SECONDS = 5.0
MAX_CHARACTERS = 2_000_000
MAX_LINES = 50_000


class OverBudget(Exception):
    """The document takes too long to lay out."""


class Budget:
    """Counts the thread's own time, so that a busy machine does not change what a page shows."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS or text.count("\n") > MAX_LINES:
            raise OverBudget
        self._end = time.thread_time() + SECONDS

    def check(self) -> None:
        if time.thread_time() > self._end:
            raise OverBudget
