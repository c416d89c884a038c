"""HTML that stands in Markdown. Each piece is closed within itself before it meets the others."""

import re
from html import escape, unescape

# Elements whose content a browser reads as something else than HTML: one that is never closed
# would swallow the rest of the page. They are shown as text, as in GitHub's Markdown.
SWALLOWING = re.compile(
    r"<(?=/?(?:title|textarea|style|xmp|iframe|noembed|noframes|noscript|script|plaintext)[\s/>])",
    re.IGNORECASE,
)
# No "<" inside: else every image that is never closed is read up to the end of the piece.
IMAGE = re.compile(r"<img\b(?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*>", re.IGNORECASE)
ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
HREF = re.compile(r"\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
DETAILS = re.compile(r"\s*(<details(?:\s+open(?:=(?:\"\"|''|open|\"open\"))?)?\s*>)", re.IGNORECASE)
DETAILS_END = re.compile(r"</details\s*>\s*\Z", re.IGNORECASE)

# A browser's parser repeats open elements such as <b title=1> in every block that follows, so a
# small text can ask for millions of elements. Few documents come near these figures.
MAX_PIECE = 50_000
MAX_REPEATING = 20
REPEATING = re.compile(
    r"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/]", re.IGNORECASE
)


def is_too_much(piece: str) -> bool:
    return len(piece) > MAX_PIECE or len(REPEATING.findall(piece)) > MAX_REPEATING


def prepared(piece: str) -> str:
    """A piece as the sanitizer may have it: nothing that swallows what follows, and no image."""
    return IMAGE.sub(_words_of_image, SWALLOWING.sub("&lt;", piece))


def hrefs(piece: str) -> list[str]:
    return [unescape("".join(groups)) for groups in HREF.findall(piece)]


def _words_of_image(image: re.Match[str]) -> str:
    alt = ALT.search(image[0])
    words = unescape((alt[1] or alt[2] or "") if alt else "")
    return f'<span class="image">{escape(words)}</span>' if words else ""
