"""The judged sets: documentation, and the terms of its own official glossary.

    python -m benchmarks.terms_sets OUTPUT [--repositories FOLDER] [NAME …]

The glossary itself is left out of the texts. A term counts if it, or another name that the glossary
gives it, stands in the texts: no method finds what is not there. Texts stay out of this repository.
"""

import argparse
import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.terms_sources import (
    JAPANESE,
    Files,
    Repository,
    asciidoc,
    docbook,
    glossary_directive,
    hugo,
    mdn,
    rst,
    rst_inline,
    translations,
)

Built = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Source:
    name: str
    language: str
    # Weights were fitted to it, and it was looked at. The others were not.
    is_tuned: bool
    repository: Repository
    build: Callable[[Files], Built]


KUBERNETES = Repository("kubernetes/website", "56464fe6c846523da555b49fbb012f0e270871ae")
PYTHON = Repository("python/python-docs-ja", "7eb90aaa6d3395bcfe01801ceb5e620eedf2356a")
PACKAGING = Repository("pypa/packaging.python.org", "ab4994857826246587d993862fd4097e36568080")
ANSIBLE = Repository("ansible/ansible-documentation", "ef72400cc2f70f974ffbb30b63098b31dbd36b07")
OPENSTACK = Repository("openstack/security-doc", "30a20af8acf2487d4758506b2235e5db1ce98559")
MDN = Repository("mdn/translated-content", "1682ae49e23ad9f7b75d74c33b5d375fe9806d21")
SKLEARN = Repository("scikit-learn/scikit-learn", "be5a8a8bd493747a5d52c7700dc0f1d47b645be6")
POSTGRES = Repository("postgres/postgres", "e2c812f1475dc75ab6f8a39fb5696d8d32d05fa1")
TELEMETRY = Repository(
    "open-telemetry/opentelemetry.io", "dd5997c8b9fafbf72ea6b8059ade242d88b8f118"
)
GIT = Repository("jnavila/git-manpages-l10n", "4970e6283f7e37858faa6b87169e754351b5e12f")


def _kubernetes(language: str) -> Callable[[Files], Built]:
    def build(files: Files) -> Built:
        folder = rf"^content/{language}/docs"
        terms = [
            _front_title(files.text(name))
            for name in files.names(rf"{folder}/reference/glossary/.*\.md$", "index")
        ]
        return [
            hugo(files.text(name)) for name in files.names(rf"{folder}/concepts/.*\.md$")
        ], terms

    return build


def _mdn(files: Files) -> Built:
    terms = [_front_title(files.text(n)) for n in files.names(r"^files/ja/glossary/.*index\.md$")]
    parts = r"^files/ja/web/(http|security|performance|accessibility|progressive_web_apps)/"
    return [mdn(files.text(name)) for name in files.names(rf"{parts}.*index\.md$")], terms


def _front_title(text: str) -> str:
    title = re.search(r"^title:\s*(.+)$", text, re.MULTILINE)
    return title[1].strip(" \"'") if title else ""


def _python(language: str) -> Callable[[Files], Built]:
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


def _openstack(language: str) -> Callable[[Files], Built]:
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


def _sphinx(documents: str, glossary: str, but: str = r"(?!)") -> Callable[[Files], Built]:
    def build(files: Files) -> Built:
        names = files.names(documents, f"{but}|{re.escape(glossary)}")
        return [rst(files.text(name)) for name in names], glossary_directive(files.text(glossary))

    return build


def _sklearn(files: Files) -> Built:
    glossary = files.text("doc/glossary.rst")
    # Then come methods, parameters and attributes: names in code, not terms.
    concepts = glossary[: glossary.index("\nMethods\n=====")]
    names = files.names(r"^doc/(modules/|developers/)?[^/]*\.rst$", "whats_new|glossary")
    return [rst(files.text(name)) for name in names], glossary_directive(concepts)


def _postgres(files: Files) -> Built:
    entries = re.findall(
        r"<glossentry[^>]*>\s*<glossterm>(.*?)</glossterm>",
        files.text("doc/src/sgml/glossary.sgml"),
        re.DOTALL,
    )
    chapters = (
        "advanced|arch-dev|backup|charset|client-auth|config|ddl|dml|extend|high-availability|"
        "indices|jit|logical-replication|logicaldecoding|maintenance|manage-ag|monitoring|mvcc|"
        "parallel|perform|queries|query|rules|runtime|start|storage|syntax|trigger|user-manag|wal"
    )
    names = files.names(rf"^doc/src/sgml/({chapters})\.sgml$")
    terms = [" ".join(re.sub(r"<[^>]+>", "", entry).split()) for entry in entries]
    return [docbook(files.text(name)) for name in names], terms


def _telemetry(language: str) -> Callable[[Files], Built]:
    def build(files: Files) -> Built:
        folder = rf"^content/{language}/docs"
        glossary = files.text(f"content/{language}/docs/concepts/glossary.md")
        terms = re.findall(r"^### (.+?)(?:\s*\{.*)?$", glossary, re.MULTILINE)
        parts = "concepts|collector|platforms|specs|getting-started|zero-code|security|what-is"
        names = files.names(rf"{folder}/({parts}).*\.md$", "glossary|configuration-registry")
        return [files.text(name) for name in names], terms

    return build


def _git(files: Files) -> Built:
    terms = re.findall(
        r"^\[\[[^\]]*\]\]\s*(.+?)::", files.text("en/glossary-content.adoc"), re.MULTILINE
    )
    names = files.names(r"^en/(git|user-manual).*\.(adoc|txt)$", "gloss")
    texts = [asciidoc(files.text(name)) for name in names]
    return [text for text in texts if len(text) > 1000], terms


def _git_in_japanese(files: Files) -> Built:
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


SOURCES = (
    Source("kubernetes-en", "en", True, KUBERNETES, _kubernetes("en")),
    Source("python-en", "en", True, PYTHON, _python("en")),
    Source("packaging", "en", True, PACKAGING, _sphinx(r"^source/.*\.rst$", "source/glossary.rst")),
    Source("openstack-en", "en", True, OPENSTACK, _openstack("en")),
    Source(
        "ansible",
        "en",
        True,
        ANSIBLE,
        _sphinx(
            r"^docs/docsite/rst/(getting_started|playbook_guide|inventory_guide|vault_guide|plugins|"
            r"module_plugin_guide|command_guide|tips_tricks|collections_guide)/.*\.rst$",
            "docs/docsite/rst/reference_appendices/glossary.rst",
        ),
    ),
    Source("postgres", "en", False, POSTGRES, _postgres),
    Source("scikit-learn", "en", False, SKLEARN, _sklearn),
    Source("opentelemetry-en", "en", False, TELEMETRY, _telemetry("en")),
    Source("git-en", "en", False, GIT, _git),
    Source("kubernetes-ja", "ja", True, KUBERNETES, _kubernetes("ja")),
    Source("mdn-ja", "ja", True, MDN, _mdn),
    Source("openstack-ja", "ja", True, OPENSTACK, _openstack("ja")),
    Source("python-ja", "ja", False, PYTHON, _python("ja")),
    Source("opentelemetry-ja", "ja", False, TELEMETRY, _telemetry("ja")),
    Source("git-ja", "ja", False, GIT, _git_in_japanese),
)


def names_of(term: str) -> list[str]:
    """What a glossary calls a term: "Custom Resource Definition (CRD)" has two names."""
    term = " ".join(re.sub(r"[`*]|\\", "", term).split())
    if bracket := re.fullmatch(r"(.*?)\s*[(（](.*?)[)）]\s*(.*)", term):
        names = [f"{bracket[1]} {bracket[3]}".strip(), bracket[2]]
    else:
        names = [term]
    parts = (part.strip() for name in names for part in re.split(r"\s+/\s+|,\s+|、", name))
    return list(dict.fromkeys(part for part in parts if re.search(r"\w\w", part)))


def attested(names: Iterable[str], text: str) -> bool:
    """In the text, with a hyphen for a space, in the plural or with another long-vowel mark."""
    for name in names:
        words = [re.escape(word) for word in re.split(r"[\s-]+", _normal(name)) if word]
        pattern = r"[\s-]?".join(words).replace("ー", "ー?")
        if name.isascii():
            pattern = rf"(?<!\w){pattern}(?:s|es)?(?!\w)"
        if re.search(pattern, text):
            return True
    return False


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def write(source: Source, repositories: Path, output: Path) -> None:
    documents, terms = source.build(source.repository.at(repositories))
    documents = [document for document in documents if document.strip()]
    whole = _normal("\n".join(documents))
    named = {tuple(names_of(term)): None for term in terms if names_of(term)}
    glossary = [list(names) for names in named if attested(names, whole)]
    data = {
        "name": source.name,
        "language": source.language,
        "is_tuned": source.is_tuned,
        "documents": documents,
        "glossary": glossary,
        "glossary_size": len(named),
    }
    (output / f"{source.name}.json").write_text(json.dumps(data, ensure_ascii=False))
    size = sum(map(len, documents))
    print(
        f"{source.name}: {len(documents)} documents, {size:,} characters, "
        f"{len(glossary)} of {len(named)} terms stand in them",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repositories", type=Path)
    options = parser.parse_intermixed_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        if not options.names or source.name in options.names:
            write(source, options.repositories or options.output / "repositories", options.output)


if __name__ == "__main__":
    main()
