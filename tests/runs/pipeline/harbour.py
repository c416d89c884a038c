"""A small project: what the steps of the pipeline are tried on."""

from collections.abc import Mapping, Sequence
from typing import Any

from projects.terms.keys import key_of
from projects.terms.readings import reading_of
from runs.engine.definitions import ContextFinder
from runs.pipeline.data import (
    Candidate,
    Context,
    Entry,
    Evidence,
    Occurrence,
    SourceDocument,
    Term,
)

GUIDE = """# Harbour guide

A berth is a place where a ship lies at the quay.
The pilot brings the ship to her berth.

## Towing

**Tug** boats push and pull large ships.
A tug has a strong engine. Ask the harbour master for a tug.
"""
RULES = """# Rules

The harbour master is the person in charge of the port.
A ship must not leave her berth without the harbour master.
"""
JAPANESE = """# 港の手引き

停泊地とは、船が錨を下ろして泊まる場所である。
水先人は船を停泊地へ導く。
"""
DOCUMENTS = [
    SourceDocument(1, "guide.md", "hash-1", GUIDE),
    SourceDocument(2, "rules.md", "hash-2", RULES),
    SourceDocument(3, "ja.md", "hash-3", JAPANESE),
]


class LineFinder(ContextFinder):
    """Gives the lines in which a term stands, in order: which passages are best is tried elsewhere,
    and what is made of them should not depend on it."""

    def __init__(self, documents: Sequence[SourceDocument]) -> None:
        super().__init__(documents)
        self.lined = documents

    def contexts(self, term: Term, *, limit: int = 6, most_tokens: int = 900) -> list[Context]:
        found = []
        for document in self.lined:
            heading: tuple[str, ...] = ()
            for number, line in enumerate(document.text.split("\n"), 1):
                if line.startswith("#"):
                    heading = (line.strip("# "),)
                elif any(each.casefold() in line.casefold() for each in term.spellings):
                    found.append(
                        Context(
                            document.id,
                            document.path,
                            document.file_hash,
                            number,
                            number,
                            heading,
                            line,
                        )
                    )
        return found[:limit]


def finder(*texts: str) -> LineFinder:
    """Of these texts, or of the harbour's."""
    if not texts:
        return LineFinder(DOCUMENTS)
    return LineFinder(
        [SourceDocument(n, f"{n}.md", f"hash-{n}", text) for n, text in enumerate(texts, 1)]
    )


def engine_finder(*texts: str) -> ContextFinder:
    """The one that runs use, over the same texts."""
    return ContextFinder(finder(*texts).lined)


def term(text: str, **more: Any) -> Term:
    language = "en" if text.isascii() else "ja"
    return Term(text=text, key=key_of(text), language=language, reading=reading_of(text), **more)


def terms(*texts: str) -> dict[str, Term]:
    return {key_of(text): term(text) for text in texts}


def entry(text: str, definition: str, **more: Any) -> Entry:
    given: dict[str, Any] = {
        "term": text,
        "key": key_of(text),
        "language": "en" if text.isascii() else "ja",
        "reading": reading_of(text),
        "definition": definition,
        "confidence": 0.9,
        "prompt_version": "generate/1:en",
    }
    return Entry(**{**given, **more})


def entries(*given: Entry) -> dict[str, Entry]:
    return {each.key: each for each in given}


def evidence(document: SourceDocument, line: int, quote: str) -> Evidence:
    return Evidence(document.id, document.path, document.file_hash, line, line, quote)


def candidate(text: str, *places: tuple[int, int], **more: Any) -> Candidate:
    return Candidate(
        text=text,
        key=key_of(text),
        language="en" if text.isascii() else "ja",
        reading=reading_of(text),
        score=1.0,
        frequency=len(places),
        document_count=len({document for document, _ in places}),
        occurrences=tuple(Occurrence(document, line) for document, line in places),
        **more,
    )


def answer(
    definition: str,
    *quotes: str | tuple[int, str],
    number: int = 1,
    confidence: Any = 0.9,
    aliases: Sequence[str] = (),
    related: Sequence[str] = (),
) -> dict[str, Any]:
    """One entry of an answer; a quote is from the first passage unless it says which."""
    return {
        "number": number,
        "definition": definition,
        "confidence": confidence,
        "aliases": list(aliases),
        "related": list(related),
        "quotes": [
            {"passage": 1, "text": quote}
            if isinstance(quote, str)
            else {"passage": quote[0], "text": quote[1]}
            for quote in quotes
        ],
    }


def answers(*given: Mapping[str, Any]) -> dict[str, Any]:
    return {"entries": list(given)}


def asked(request: Any) -> str:
    """All that a model reads of a request."""
    return "\n".join(message["content"] for message in request.messages)
