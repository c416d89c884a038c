"""The block of settings that many Markdown files begin with: `---` as in YAML, `+++` as in TOML.

Read line by line and not by a YAML parser: it is shown to people, never acted on, and a mistake in
it must not hide the document.
"""

import re
from itertools import dropwhile

LIMIT = 32 * 1024
FENCED = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
KEY = re.compile(r"""["']?([^\W\d][\w .-]{0,100}?)["']?[ \t]*(?::(?:[ \t]+(.*))?|=[ \t]*(.*))""")
# `>` and `|` say that the value is the text below.
BLOCK_SCALAR = re.compile(r"[>|][-+]?")


def split(text: str) -> tuple[list[tuple[str, str]], str]:
    """The settings as pairs, and the text with the block blanked: line numbers must not move.

    Two rulers with prose between them are not settings, so the first line must look like one.
    """
    block = FENCED.match(text[:LIMIT])
    lines = list(dropwhile(_is_silent, block[2].split("\n"))) if block else []
    if block is None or not lines or not KEY.fullmatch(lines[0]):
        return [], text
    pairs: list[tuple[str, str]] = []
    joint = ""
    for line in lines:
        if pair := KEY.fullmatch(line):
            value = (pair[2] or pair[3] or "").strip()
            joint = " " if BLOCK_SCALAR.fullmatch(value) else ", "
            pairs.append((pair[1], "" if joint == " " else _plain(value)))
        elif not _is_silent(line):
            # A list or a long value: its lines belong to the key above.
            key, value = pairs[-1]
            pairs[-1] = (key, joint.join(filter(None, [value, _plain(line.strip(" \t-"))])))
    return pairs, "\n" * block[0].count("\n") + text[block.end() :]


def _is_silent(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _plain(value: str) -> str:
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(map(_unquoted, value[1:-1].split(",")))
    return _unquoted(value)


def _unquoted(value: str) -> str:
    value = value.strip()
    quote = value[:1]
    if quote == '"' and quote in value[1:]:
        return re.sub(r"\\(.)", r"\1", value[1:].rpartition(quote)[0])
    if quote == "'" and quote in value[1:]:
        return value[1:].rpartition(quote)[0].replace("''", "'")
    return re.sub(r"\s#.*", "", value).rstrip()
