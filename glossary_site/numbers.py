"""Numbers that people and programs put into addresses and headers."""

# No key or counter has more digits, and Python refuses to read thousands of them.
MAX_DIGITS = 15


def number_in(text: str) -> int | None:
    """The whole number that a text is; None when it is something else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else None
