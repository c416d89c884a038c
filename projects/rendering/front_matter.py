"""The `---` block of settings that many Markdown files begin with."""

import re

FENCED = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
KEY = re.compile(r"([^\W\d][\w .-]*):(?:[ \t]+(.*))?")
LIMIT = 20_000


def split(text: str) -> tuple[list[tuple[str, str]], str]:
    """The settings as pairs, and the text with the block blanked: line numbers must not move.

    Two rulers with prose between them are not settings, so the first line must look like one.
    """
    block = FENCED.match(text[:LIMIT])
    if block is None or not KEY.fullmatch(block[1].split("\n", 1)[0]):
        return [], text
    pairs: list[tuple[str, str]] = []
    for line in block[1].split("\n"):
        if pair := KEY.fullmatch(line):
            pairs.append((pair[1], _plain(pair[2] or "")))
        elif line.strip() and not line.lstrip().startswith("#"):
            # A list or a long value: its lines belong to the key above.
            key, value = pairs[-1]
            pairs[-1] = (key, ", ".join(filter(None, [value, _plain(line.strip(" \t-"))])))
    return pairs, "\n" * block[0].count("\n") + text[block.end() :]


def _plain(value: str) -> str:
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(_plain(part) for part in value[1:-1].split(","))
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
