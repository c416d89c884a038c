"""The judged sets: documentation, and the terms of its own official glossary.

    python -m benchmarks.terms_sets OUTPUT [--repositories FOLDER] [NAME …]

The glossary itself is left out of the texts. A term counts if it, or another name that the glossary
gives it, stands in the texts: no method finds what is not there. Texts stay out of this repository.
"""

import argparse
import json
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from benchmarks.terms_domains import SOURCES, Source


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
