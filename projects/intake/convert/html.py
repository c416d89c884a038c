"""A web page to Markdown: the text that a reader came for, without scripts and page furniture."""

import re

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, NavigableString

from projects.intake.convert.markdown import Markdown
from projects.intake.convert.text import BREAK_INSIDE_EAST_ASIAN, IS_EAST_ASIAN

NOISE = (
    "script, style, noscript, template, nav, iframe, object, embed, svg, canvas, audio, video, "
    "button, select, textarea, dialog, title, link, meta, base, area, rp, colgroup, "
    "[role=navigation], [role=search], [hidden], [aria-hidden=true], .sr-only, a.headerlink"
)
HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
# A table around any of these only arranges the page.
NEVER_IN_DATA = [*HEADINGS, "table", "pre"]
# What programs append to a heading to link to it.
ANCHOR_SIGNS = frozenset("¶#§🔗")
MERGED = ["code", "b", "strong", "em", "i"]
# Signs that only tell a browser where it may break a line.
INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
# A main part smaller than this share of the page is not what its author thought it was.
MAIN_SHARE = 1 / 3


def convert(data: bytes) -> str:
    return to_markdown(data.decode())


def to_markdown(html: str) -> str:
    soup = BeautifulSoup(html, "html.parser")
    title = _text(soup.title) if soup.title else ""
    for element in soup.select(NOISE):
        element.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()

    root = _main_part(soup)
    _tidy_inline(soup, root)
    _tidy_tables(root)
    _number_lists(root)
    _join_east_asian_lines(root)
    markdown = str(Markdown().convert_soup(root))
    if title and not root.find(HEADINGS):
        return f"# {title}\n\n{markdown}"
    return markdown


def _text(element: Tag) -> str:
    return " ".join(element.get_text().split())


def _main_part(soup: BeautifulSoup) -> Tag:
    whole = soup.body or soup
    parts = whole.select("main, [role=main]")
    if len(parts) == 1 and len(_text(parts[0])) >= MAIN_SHARE * len(_text(whole)):
        return parts[0]
    return whole


def _tidy_inline(soup: BeautifulSoup, root: Tag) -> None:
    for link in root.find_all("a"):
        if _text(link) in ANCHOR_SIGNS and str(link.get("href") or "").startswith("#"):
            link.decompose()
    for box in root.find_all("input"):
        checked = "[x] " if box.has_attr("checked") else "[ ] "
        box.replace_with(checked if box.get("type") == "checkbox" else "")
    for reading in root.find_all("rt"):
        # 漢字 with its reading above becomes 漢字（かんじ）.
        reading.replace_with(f"（{_text(reading)}）")
    for block in root.select(".line-block .line-block"):
        block.unwrap()
    for line in root.select("div.line"):
        line.name = "span"
        if line.find_next_sibling():
            line.append(soup.new_tag("br"))
    for code in root.select("tt, span.literal"):
        code.name = "code"
    for element in root.find_all(MERGED):
        # Marks that touch ("**a****b**") would not be read as marks any more.
        following = element.next_sibling
        while isinstance(following, Tag) and following.name == element.name:
            element.extend(list(following.contents))
            following.extract()
            following = element.next_sibling
    for pause in root.select("pre br"):
        pause.replace_with("\n")


def _tidy_tables(root: Tag) -> None:
    for table in root.find_all("table"):
        if table.find(NEVER_IN_DATA):
            for part in table.find_all(["td", "th", "tr", "thead", "tbody", "tfoot", "caption"]):
                if part.find_parent("table") is table:
                    part.name = "div"
            table.name = "div"
        else:
            for pause in table.find_all("br"):
                pause.replace_with(" ")


def _number_lists(root: Tag) -> None:
    """Numbers given once here: counting siblings for every item takes quadratic time."""
    for ordered in root.find_all("ol"):
        start = str(ordered.get("start") or "1")
        number = int(start) if start.isdecimal() and len(start) < 7 else 1
        for item in ordered.find_all("li", recursive=False):
            item["value"] = str(number)
            number += 1


def _join_east_asian_lines(root: Tag) -> None:
    """A line break in the source is a space to browsers, and Japanese has none between words."""
    texts = [text for text in root.find_all(string=True) if not text.find_parent("pre")]
    values = [INVISIBLE.sub("", text).replace("\xa0", " ") for text in texts]
    inked = [value.strip() for value in values]
    last = ""
    for index, (text, value) in enumerate(zip(texts, values, strict=True)):
        body = inked[index]
        following = next((other[0] for other in inked[index + 1 : index + 4] if other), "")
        head, tail = value[: len(value) - len(value.lstrip())], value[len(value.rstrip()) :]
        if "\n" in head and _touch(last, (body or following)[:1]):
            head = ""
        if "\n" in tail and body and _touch(body[-1], following):
            tail = ""
        joined = head + BREAK_INSIDE_EAST_ASIAN.sub("", body) + (tail if body else "")
        if joined != text:
            text.replace_with(NavigableString(joined))
        last = body[-1:] or last


def _touch(last: str, first: str) -> bool:
    return bool(last and first and IS_EAST_ASIAN.match(last) and IS_EAST_ASIAN.match(first))
