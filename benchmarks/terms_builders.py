"""How the documentation and the glossary of a project are read.

First the ways that several projects share, then those of one alone.
"""

import json
import re
from collections.abc import Callable

from benchmarks.terms_sources import (
    JAPANESE,
    Files,
    asciidoc,
    docbook,
    glossary_directive,
    mdn,
    rst,
    rst_inline,
    translations,
)

# Documents and terms.
Built = tuple[list[str], list[str]]
Build = Callable[[Files], Built]
NOTHING = r"(?!)"


def markdown(documents: str, glossary: str, entry: str, but: str = NOTHING) -> Build:
    """`entry`: what a term looks like on the glossary's page."""

    def build(files: Files) -> Built:
        names = files.names(documents, f"{but}|{re.escape(glossary)}")
        terms = re.findall(entry, files.text(glossary), re.MULTILINE)
        return [files.text(name) for name in names], terms

    return build


def page_a_term(documents: str, glossary: str, but: str = NOTHING) -> Build:
    """The title of each page in the glossary's folder is a term."""

    def build(files: Files) -> Built:
        pages = files.names(glossary, r"glossary/_?index\.md$")
        terms = [_front_title(files.text(name)) for name in pages]
        names = files.names(documents, f"{but}|{glossary}")
        return [mdn(files.text(name)) for name in names], terms

    return build


def _front_title(text: str) -> str:
    title = re.search(r"^title:\s*(.+)$", text, re.MULTILINE)
    return title[1].strip(" \"'") if title else ""


def sphinx(documents: str, glossary: str, but: str = NOTHING) -> Build:
    def build(files: Files) -> Built:
        names = files.names(documents, f"{but}|{re.escape(glossary)}")
        return [rst(files.text(name)) for name in names], glossary_directive(files.text(glossary))

    return build


def docbook_pages(chapters: str) -> Build:
    def build(files: Files) -> Built:
        pages = _without_comments(files.text("doc/src/sgml/glossary.sgml"))
        entries = re.findall(r"<glossentry[^>]*>\s*<glossterm>(.*?)</glossterm>", pages, re.DOTALL)
        terms = [" ".join(re.sub(r"<[^>]+>", "", entry).split()) for entry in entries]
        # Aggregate function【集約関数】（ルーチン）
        terms = [re.sub(r"【(.*?)】.*", r" (\1)", term) for term in terms]
        names = files.names(rf"^doc/src/sgml/({chapters})\.sgml$")
        return [docbook(files.text(name)) for name in names], terms

    return build


def _without_comments(text: str) -> str:
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def python(language: str) -> Build:
    """Original and translation, both out of the catalogues; the library's reference left out."""
    place = 0 if language == "en" else 1

    def build(files: Files) -> Built:
        entries = [entry[1:] for entry in translations(files.text("glossary.po"))]
        glossary = []
        for entry, explained in zip(entries, [*entries[1:], ("", "")], strict=True):
            if len(entry[0]) < 40 and not re.search(r"^:|[.:(]$|\(\(|^Glossary$", entry[0]):
                # The translation keeps the English name; the Japanese one begins the explanation.
                given = re.match(r"[(（]([^()（）]{2,30})[)）]", explained[1])
                name = f"{entry[1]} ({given[1]})" if given else entry[1]
                glossary.append((entry[0], name))
        documents = []
        for name in files.names(r"^(tutorial|howto|reference|faq|using|extending)/.*\.po$"):
            strings = [entry[1:][place] for entry in translations(files.text(name))]
            documents.append("\n\n".join(rst_inline(text) for text in strings if text))
        return documents, [pair[place] for pair in glossary]

    return build


def openstack(language: str) -> Build:
    place = 0 if language == "en" else 1

    def build(files: Files) -> Built:
        catalogue = "source/locale/ja/LC_MESSAGES"
        named = set(glossary_directive(files.text("common/glossary.rst")))
        glossary = [
            entry[1:][place]
            for entry in translations(files.text(f"common/{catalogue}/common.po"))
            if entry[1] in named
        ]
        guide = list(translations(files.text(f"security-guide/{catalogue}/security-guide.po")))
        texts = [rst_inline(entry[1:][place]) for entry in guide if entry[1:][place]]
        # One catalogue for the whole guide: cut where files would be about as long.
        pages = ["\n\n".join(texts[start : start + 80]) for start in range(0, len(texts), 80)]
        return pages, glossary

    return build


def sklearn(files: Files) -> Built:
    glossary = files.text("doc/glossary.rst")
    # Then come methods, parameters and attributes: names in code, not terms.
    concepts = glossary[: glossary.index("\nMethods\n=====")]
    names = files.names(r"^doc/(modules/|developers/)?[^/]*\.rst$", "whats_new|glossary")
    return [rst(files.text(name)) for name in names], glossary_directive(concepts)


def git(files: Files) -> Built:
    terms = re.findall(
        r"^\[\[[^\]]*\]\]\s*(.+?)::", files.text("en/glossary-content.adoc"), re.MULTILINE
    )
    names = files.names(r"^en/(git|user-manual).*\.(adoc|txt)$", "gloss")
    texts = [asciidoc(files.text(name)) for name in names]
    return [text for text in texts if len(text) > 1000], terms


def git_in_japanese(files: Files) -> Built:
    documents: dict[str, list[str]] = {}
    terms: list[str] = []
    for comment, _original, translated in translations(files.text("po/documentation.ja.po")):
        place = re.search(r"#: en/([\w.-]+)\.adoc", comment)
        if not place or not JAPANESE.search(translated):
            continue
        if place[1] != "glossary-content":
            documents.setdefault(place[1], []).append(asciidoc(translated))
        elif "Labeled list" in comment:
            terms.append(re.sub(r"\[\[[^\]]*\]\]", "", translated))
    return ["\n\n".join(texts) for texts in documents.values()], terms


def fabric_in_japanese(files: Files) -> Built:
    glossary = files.text("docs/locale/ja_JP/source/glossary.rst")
    names = files.names(r"^docs/locale/ja_JP/source/.*\.(rst|md)$", "glossary|whatsnew|release")
    texts = [(name, files.text(name)) for name in names]
    documents = [text if name.endswith(".md") else rst(text) for name, text in texts]
    return documents, re.findall(r"^(.+)\n-{4,}$", glossary, re.MULTILINE)


def docker_in_japanese(files: Files) -> Built:
    glossary = re.findall(r"^(.+)\n={4,}$", files.text("glossary.rst"), re.MULTILINE)
    # :ruby:`ベースイメージ <base image>`
    terms = [re.sub(r":ruby:`(.+?)\s*<(.+?)>`", r"\1 (\2)", term) for term in glossary]
    names = files.names(
        r"^(build|config|desktop|develop|engine|get-started|network|registry|storage|swarm)/.*\.rst$",
        "reference/commandline|release-notes|/api/",
    )
    documents = [rst(re.sub(r":ruby:`(.+?)\s*<.+?>`", r"\1", files.text(name))) for name in names]
    return documents, [term for term in terms if "用語集" not in term]


def ethereum_in_japanese(files: Files) -> Built:
    named = json.loads(files.text("src/intl/ja/glossary.json"))
    names = files.names(
        r"^public/content/translations/ja/.*\.md$", "/(glossary|videos|contributing)/"
    )
    terms = [term for name, term in named.items() if name.endswith("-term")]
    return [files.text(name) for name in names], terms
