"""What people type at a command, read."""

from argparse import ArgumentTypeError
from pathlib import Path

from glossary_site.numbers import number_in

# As many as anybody can want, and few enough for every column and query.
MOST = 1_000_000


def how_many(text: str) -> int:
    """From one up: a limit."""
    number = number_in(text)
    if not number or number > MOST:
        raise ArgumentTypeError(f"{text} is not a number from 1 to {MOST}")
    return number


def path_named(text: str) -> Path:
    """A variable of the shell that is not set would mean the folder one happens to be in."""
    if not text:
        raise ArgumentTypeError("the path is empty")
    return Path(text)
