"""Small repairs of text that every converter needs."""

import re

# Kana, kanji and the full-width forms: scripts that put no space between words.
EAST_ASIAN = (
    r"\u2e80-\u2fdf\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
)
BREAK_INSIDE_EAST_ASIAN = re.compile(rf"(?<=[{EAST_ASIAN}])[ \t]*\n[ \t]*(?=[{EAST_ASIAN}])")
IS_EAST_ASIAN = re.compile(f"[{EAST_ASIAN}]")

# Control characters, halves of surrogate pairs, code points that are no characters.
UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
TRAILING_SPACE = re.compile(r"[ \t]+$", re.MULTILINE)
BLANK_LINES = re.compile(r"\n{3,}")


def scrub(text: str) -> str:
    """Converted text as it may be stored: no control characters, tidy ends of lines."""
    text = UNSTORABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = TRAILING_SPACE.sub("", text)
    text = BLANK_LINES.sub("\n\n", text).strip("\n")
    return f"{text}\n" if text else ""


def join_lines(before: str, after: str) -> str:
    """Two lines of one paragraph as one: with a space, except where the script has none."""
    if not before or not after:
        return before + after
    touches = IS_EAST_ASIAN.match(before[-1]) or IS_EAST_ASIAN.match(after[0])
    return before + after if touches else f"{before} {after}"
