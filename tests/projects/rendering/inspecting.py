"""Looking at rendered Markdown as a browser does."""

import re
from html.parser import HTMLParser

from projects.rendering.clean import ATTRIBUTES, TAGS

VOID = {"br", "hr"}


class Inspector(HTMLParser):
    """Reads the result as a browser would, and fails on anything that is not allowed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.lines: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) | {"rel"}, (tag, name)
            value = value or ""
            if name == "href":
                assert re.match(r"(?i)https?://|mailto:|#|/projects/", value), value
                self.links.append(value)
            elif name == "id":
                self.ids.append(value)
            elif name == "data-line":
                self.lines.append(int(value))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")


def inspect(html: str) -> Inspector:
    inspector = Inspector()
    inspector.feed(html)
    inspector.close()
    assert not inspector.open
    return inspector
