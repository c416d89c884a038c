"""The title of a document: from its front matter, else its first heading, else its name."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from markdown_it import MarkdownIt

from projects import front_matter
from projects.headings import split_anchor

MAX_TITLE = 200
# A heading further down than this is a section's, not the document's.
SEARCHED = 32 * 1024
FIRST_LOOK = 512

# Headings need the block rules only; the default nesting limit would hide some of them.
_blocks = MarkdownIt("commonmark", {"maxNesting": 100}).disable("inline")
_inline = MarkdownIt("commonmark")


def title_of(content: str, path: str) -> str:
    settings, body = front_matter.split(content[: front_matter.LIMIT + SEARCHED])
    declared = (value for key, value in settings if key.lower() == "title")
    title = next(declared, "") or _first_heading(body.lstrip("\n")[:SEARCHED])
    return (title or PurePosixPath(path).stem)[:MAX_TITLE].strip()


def _first_heading(text: str) -> str:
    """Looked for in a growing beginning, because nearly always it is in the first lines."""
    looked_at = FIRST_LOOK
    while True:
        end = text.find("\n", looked_at)
        whole = end == -1
        for title in _headings(text if whole else text[: end + 1]):
            if title:
                return title
        if whole:
            return ""
        looked_at *= 4


def _headings(text: str) -> Iterator[str]:
    tokens = _blocks.parse(text)
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            yield _plain(tokens[index + 1].content)


def _plain(source: str) -> str:
    """A heading without its markup. Cut first: hostile brackets take quadratic time."""
    pieces = []
    words, _anchor = split_anchor(source[: 4 * MAX_TITLE])
    for token in _inline.parseInline(words)[0].children or []:
        if token.type in ("text", "code_inline", "text_special", "image"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
    return " ".join("".join(pieces).split())
