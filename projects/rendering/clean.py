"""The one door to a page: HTML made from a person's document goes through this allowlist.

The parser of the sanitizer is a browser's, so what comes out is balanced and cannot reach beyond
the element it is put in.
"""

import re
from collections.abc import Mapping, Set

import nh3

HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
# fmt: off
TAGS = HEADINGS | {
    "p", "div", "span", "section", "a", "br", "hr", "blockquote", "pre", "code", "kbd", "samp",
    "var", "em", "strong", "b", "i", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "abbr",
    "q", "cite", "dfn", "ruby", "rt", "rp", "ul", "ol", "li", "dl", "dt", "dd", "details",
    "summary", "figure", "figcaption", "table", "caption", "thead", "tbody", "tfoot", "tr", "th",
    "td",
}
# fmt: on
ATTRIBUTES = {
    "*": {"class", "data-line", "id", "title", "lang", "dir"},
    "a": {"href"},
    "li": {"value"},
    "ol": {"start"},
    "th": {"colspan", "rowspan", "scope"},
    "td": {"colspan", "rowspan"},
    "details": {"open"},
}
CLASS = re.compile(
    r"language-[\w+#.-]{1,40}|align-(?:left|center|right)|missing-link|image"
    r"|passage|contains-task-list|task-list-item|task-box"
    r"|footnotes|footnotes-sep|footnotes-list|footnote-item|footnote-ref|footnote-backref"
)
FOOTNOTE = re.compile(r"fn(?:ref)?[0-9]+(?::[0-9]+)?")
NUMBER = re.compile(r"[0-9]{1,9}")
EXTERNAL = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


class Cleaner:
    """Keeps what is harmless. `anchors` are the headings' ids, `place` that of the passage somebody
    was sent to, `urls` the pages that a relative link of the document leads to; any other relative
    link loses its target. Cleaning twice changes nothing."""

    def __init__(self, *, anchors: Set[str], urls: Mapping[str, str], place: str = "") -> None:
        self._anchors = anchors
        self._place = place
        self._urls = urls
        self._own = set(urls.values())
        self._cleaner = nh3.Cleaner(
            tags=TAGS,
            clean_content_tags={"script", "style"},
            attributes=ATTRIBUTES,
            attribute_filter=self._keep,
            link_rel="noopener nofollow",
            url_schemes={"http", "https", "mailto"},
        )

    def clean(self, html: str) -> str:
        return self._cleaner.clean(html)

    def _keep(self, tag: str, attribute: str, value: str) -> str | None:
        if attribute == "class":
            return " ".join(filter(CLASS.fullmatch, value.split())) or None
        if attribute == "href":
            if value.startswith("#") or value in self._own or EXTERNAL.match(value):
                return value
            return self._urls.get(value)
        if attribute == "id":
            return value if self._is_known(tag, value) else None
        if attribute in ("data-line", "start", "value", "colspan", "rowspan"):
            return value if NUMBER.fullmatch(value) else None
        return value

    def _is_known(self, tag: str, name: str) -> bool:
        if tag in HEADINGS and name in self._anchors:
            return True
        if tag in ("a", "li") and FOOTNOTE.fullmatch(name):
            return True
        return bool(name) and name == self._place
