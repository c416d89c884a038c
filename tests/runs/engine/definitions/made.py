"""Terms and documents for the tests."""

from runs.engine.definitions import ContextFinder, define
from runs.pipeline.data import Context, Entry, SourceDocument, Term


def a_term(text: str, *, language: str = "", **other: object) -> Term:
    # Japanese is what has a wide letter in it: terms are often kanji alone.
    language = language or ("en" if text.isascii() else "ja")
    return Term(text, text.lower(), language, text, **other)  # type: ignore[arg-type]


def documents(*texts: str) -> list[SourceDocument]:
    return [
        SourceDocument(id=number, path=f"{number}.md", file_hash=f"hash{number}", text=text)
        for number, text in enumerate(texts, 1)
    ]


def contexts(term: Term | str, *texts: str, **limits: int) -> list[Context]:
    term = a_term(term) if isinstance(term, str) else term
    return ContextFinder(documents(*texts)).contexts(term, **limits)


def entry(term: Term | str, *texts: str, known: tuple[str, ...] = ()) -> Entry:
    term = a_term(term) if isinstance(term, str) else term
    return define(term, contexts(term, *texts), known=known)


def is_offered(found: Entry) -> bool:
    """Whether it is given as a definition, and not as an example of use."""
    assert found.definition
    is_example = found.definition.startswith(
        ("Used in", "用例", "No passage", "この用語", "It stands only", "見出しか")
    )
    assert is_example == (found.confidence <= 0.3)
    assert not is_example or found.needs_review
    return not is_example
