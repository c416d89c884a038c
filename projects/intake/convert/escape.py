"""Plain text made safe inside Markdown.

Escaping every sign would litter the text that people search and quote, so only what a Markdown
reader would take for markup is escaped.
"""

import re

MARKUP = re.compile(
    r"""
    \\(?=[!-/:-@\[-`{-~])           # a backslash that would escape the next sign
    | <(?=[A-Za-z/!?])              # a tag
    | &(?=\#?\w{1,31};)             # an entity
    | `
    | \*(?!\s) | (?<=\S)\*          # emphasis
    | (?<![^\W_])_ | _(?![^\W_])    # the same, which never begins inside a word
    | ~(?=~)
    | \[(?=[^\]\n]*\][(\[:])        # a link
    """,
    re.VERBOSE,
)
BLOCK_START = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|={2,}\s*$|-{2,}\s*$)")
NUMBERED = re.compile(r"^(\s*\d{1,9})([.)])(?=\s|$)")


def escape_inline(text: str) -> str:
    return MARKUP.sub(lambda found: "\\" + found[0], text)


def escape_start(text: str) -> str:
    """At the start of a block also what would make it a heading, a quotation or a list."""
    return NUMBERED.sub(r"\1\\\2", BLOCK_START.sub(r"\1\\\2", text))
