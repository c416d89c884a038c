"""HTML elements to Markdown: markdownify, taught tables, definitions, code and less escaping."""

import re
from typing import Any
from urllib.parse import quote

from bs4 import NavigableString, Tag
from markdownify import BACKSLASH, MarkdownConverter

from projects.intake.convert.escape import escape_inline, escape_start
from projects.intake.convert.tables import as_pipes
from projects.terms.links import NEW_TERM_LINK

WHITE = re.compile(r"\s+")
UNSAFE_LINK = re.compile(r"\s*(?:javascript|vbscript|data):", re.IGNORECASE)
LANGUAGE = re.compile(r"(?:language|lang|highlight|brush)-:?\s*([\w+#.-]+)\Z")
HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
JAPANESE_MARK = re.compile(
    "[\u3000-\u3003\u3008-\u3011\u3014-\u301f\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff5e]"
)
URL_SAFE = "!#$%&'*+,/:;=?@[]~-._"
INLINE_NAMES = (
    "a abbr b bdi bdo cite code data del dfn em font i img ins kbd mark q rb ruby "
    "s samp small span strike strong sub sup time tt u var wbr"
)
# As DocBook has them.
TERM_CLASSES = frozenset(["firstterm", "glossterm"])
NO_TERMS = HEADINGS | {"a", "_noformat"}
INLINE = frozenset(INLINE_NAMES.split())
NOT_A_LANGUAGE = frozenset(["default", "none", "text", "plaintext", "source", "notranslate"])


# Its type hints leave out the methods that one is meant to override.
Base: Any = MarkdownConverter


class Markdown(Base):
    class Options:
        heading_style = "atx"
        bullets = "-"
        newline_style = BACKSLASH

    def __init__(self) -> None:
        super().__init__(code_language_callback=_language)
        self._cells: dict[int, str] = {}

    def escape(self, text: str, parent_tags: set[str]) -> str:
        return escape_inline(text)

    def process_text(self, el: NavigableString, parent_tags: set[str] | None = None) -> str:
        text: str = super().process_text(el, parent_tags=parent_tags)
        inside = parent_tags or set()
        if "pre" in inside:
            return text
        # A line break in the source of a page is a space like any other.
        text = WHITE.sub(" ", text) if text.strip() else (" " if text else "")
        if "_noformat" not in inside and _begins_block(el):
            text = escape_start(text)
        return text

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:
        return str(super().convert_hN(n, el, text, parent_tags)) if text.strip() else ""

    def _emphasis(self, mark: str, text: str, parent_tags: set[str]) -> str:
        inner = text.strip()
        # Beside a Japanese bracket or full stop the mark would not count, only show.
        clashes = JAPANESE_MARK.match(inner[:1]) or JAPANESE_MARK.match(inner[-1:])
        if not inner or "_noformat" in parent_tags or clashes:
            return text
        before = text[: len(text) - len(text.lstrip())]
        return f"{before}{mark}{inner}{mark}{text[len(text.rstrip()) :]}"

    def convert_b(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        # A heading is strong already.
        if parent_tags & HEADINGS:
            return text
        return self._emphasis("**", text, parent_tags)

    def convert_em(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if TERM_CLASSES & set(el.get_attribute_list("class")):
            return self.convert_dfn(el, text, parent_tags)
        return self._emphasis("*", text, parent_tags)

    def convert_dfn(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A term that is introduced; a link that it is the text of says more."""
        inner = text.strip()
        if not inner or "[" in inner or parent_tags & NO_TERMS:
            return text
        before = text[: len(text) - len(text.lstrip())]
        return f"{before}[{inner}]({NEW_TERM_LINK}){text[len(text.rstrip()) :]}"

    convert_strong = convert_b
    convert_i = convert_em

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        href = str(el.get("href") or "").strip()
        if not href or UNSAFE_LINK.match(href) or "\n" in text.strip():
            return text
        el["href"] = quote(href, safe=URL_SAFE)
        del el["title"]
        return str(super().convert_a(el, text, parent_tags))

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        alt = WHITE.sub(" ", str(el.get("alt") or "")).strip()
        source = str(el.get("src") or "").strip()
        if not source or UNSAFE_LINK.match(source) or "_inline" in parent_tags:
            return alt
        return f"![{alt}]({quote(source, safe=URL_SAFE)})"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if "_inline" in parent_tags:
            return f" `{WHITE.sub(' ', text).strip()}` "
        block: str = super().convert_pre(el, text, parent_tags)
        # The fence must be longer than any row of backticks in the code itself.
        longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
        return block.replace("\n```", "\n" + "`" * (longest + 1)) if longest > 2 else block

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = text.strip()
        if not text:
            return ""
        number = el.get("value") if el.parent is not None and el.parent.name == "ol" else None
        marker = f"{number}. " if number else "- "
        indent = " " * len(marker)
        lines = [f"{indent}{line}" if line else "" for line in text.split("\n")]
        return marker + "\n".join(lines)[len(marker) :] + "\n"

    def convert_dt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = WHITE.sub(" ", text).strip()
        if "_inline" in parent_tags:
            return f" {text} "
        # Terms that share a definition stay on one line.
        before = el.find_previous_sibling()
        after = el.find_next_sibling()
        start = ", " if before is not None and before.name == "dt" else "\n\n"
        return start + text + ("" if after is not None and after.name == "dt" else "\n")

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        self._cells[id(el)] = WHITE.sub(" ", text).strip()
        return ""

    convert_th = convert_td

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return ""

    def convert_caption(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n"

    def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n{as_pipes(el, self._cells)}\n\n"

    def _block(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return str(self.convert_div(el, text, parent_tags))

    convert_main = convert_header = convert_footer = convert_aside = convert_figure = _block
    convert_details = convert_summary = convert_address = convert_center = _block
    convert_form = convert_fieldset = convert_legend = convert_hgroup = _block


def _begins_block(text: NavigableString) -> bool:
    """Whether the text stands where a list mark or a heading sign would count."""
    before = text.previous_sibling
    while isinstance(before, NavigableString) and not before.strip():
        before = before.previous_sibling
    if before is None:
        return text.parent is None or text.parent.name not in INLINE
    return isinstance(before, Tag) and before.name not in INLINE


def _language(block: Tag) -> str:
    """The language of a code block, as the usual highlighters mark it."""
    code = block.find("code")
    marked = [block, code if isinstance(code, Tag) else block, *list(block.parents)[:2]]
    for element in marked:
        for name in element.get_attribute_list("class"):
            found = LANGUAGE.match(str(name or ""))
            if found and found[1] not in NOT_A_LANGUAGE:
                return found[1]
    return ""
