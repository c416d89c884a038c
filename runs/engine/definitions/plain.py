"""A piece of a document in plain words: no marks, in one line."""

import re
from functools import lru_cache

from indexing.lexical.analysis import JAPANESE
from projects.rendering.plain import outside_code, without_escapes, without_links
from runs.engine.macros import quoted_in, shown_by

# Quotation marks and indents at the beginnings of lines.
MARGIN = re.compile(r"\n[ \t>]+")
# What is said instead of a picture is not what the page says.
IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])")
# Its address is elsewhere in the document.
SHORT_LINK = re.compile(r"(?<![\w\]\[!\\])\[([A-Z][^\[\]\n]{1,60})\](?![\w\[(:])")
# "[!DNL Some Name]": not to be translated.
KEPT = re.compile(r"\[!(?:DNL|UICONTROL)\s+([^\[\]]*)\]")
# Says where a line may break, and is not seen.
UNSEEN = re.compile("[\u200b\u2060\ufeff]")
# A number alone is one only behind the end of a sentence: elsewhere it may be an index.
FOOTNOTE = re.compile(
    r"\[\^[^\]\s]+\]|(?<=[^\s`][.!?。！？])(?:\[[0-9]{1,3}\])+(?=[\s*_]|$|[^\x00-\x7f])"
)
# {term}`words <page>`, and {cite}`key`, of which no word is shown.
ROLE = re.compile(
    r"(?<![\w`/.\-])\{(?P<name>[a-z][a-z:\-]*)\}`(?P<shown>(?=\S)[^`<>]*?)\s*(?:<[^`<>]*>)?`"
)
# How a thing looks: { .teal }, :material-lock:.
LOOK = re.compile(
    r"(?<=\S)\{:?\s*(?:[.#]|[\w\-]+=)[^{}\n]*\}"
    r"|:(?:material|octicons|fontawesome|simple)-[\w\-]+:\s?"
)
# What a site generator puts in when it writes the page: `text=` says which words, or else the
# first thing in quotation marks is as near as can be told.
TEMPLATE = re.compile(r"\{\{[<%]?\s*([^{}]*?)\s*[>%]?\}\}")
STRONG = re.compile(r"(?<!\\)(\*{1,3}|~~)(?=\S)(.+?)(?<=[^\s\\])\1", re.DOTALL)
MARKED = re.compile(r"(?<![\w=])==(?=[^\s=])(.+?)(?<=[^\s=])==(?![\w=])", re.DOTALL)
UNDERLINED = re.compile(r"(?<![A-Za-z0-9])(_{1,3})(?=\S)(.+?)(?<=\S)\1(?![A-Za-z0-9])", re.DOTALL)
WIDE = f"[{JAPANESE}、。「」『』（）・：]"
JAPANESE_BREAK = re.compile(rf"(?<={WIDE})[ \t]*\n[ \t]*(?={WIDE})")
MARKUP = re.compile(r"[\\`*_\[\]<>&!~{\n\u200b\u2060\ufeff]|==")


@lru_cache(maxsize=2048)
def plain(raw: str) -> str:
    """The words as a reader of the page sees them."""
    text = raw
    if MARKUP.search(text):
        # A role comes before code, which it is written as.
        text = ROLE.sub(_of_role, text) if "}`" in text else text
        text = outside_code(MARGIN.sub("\n", text), _words)
    return " ".join(text.split())


def _words(text: str) -> str:
    if "{{" in text:
        text = TEMPLATE.sub(_shown, text)
    text = KEPT.sub(r"\1", UNSEEN.sub("", text))
    if "{" in text or "-" in text:
        text = LOOK.sub("", text)
    text = without_links(SHORT_LINK.sub(r"\1", FOOTNOTE.sub("", IMAGE.sub("", text))))
    # Twice: bold in italics.
    for _ in range(2):
        text = STRONG.sub(r"\2", UNDERLINED.sub(r"\2", text))
    if "==" in text:
        text = MARKED.sub(r"\1", text)
    return JAPANESE_BREAK.sub("", without_escapes(text))


def _of_role(role: re.Match[str]) -> str:
    return "" if role["name"].startswith("cite") else role["shown"]


def _shown(template: re.Match[str]) -> str:
    if (shown := shown_by(template[1])) is not None:
        return shown
    return next(iter(quoted_in(template[1])), "")
