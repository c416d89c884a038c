"""Where terms stand that the extraction does not find by itself: those that people require."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from glossary_site.checking import Check
from runs.engine.definitions.scanning import Scanner
from runs.engine.definitions.spelling import Subject
from runs.pipeline.data import MOST_OCCURRENCES, Candidate, Occurrence, SourceDocument, Term


def counted(
    candidates: Sequence[Candidate],
    documents: Sequence[SourceDocument],
    *,
    check: Check = bool,
) -> list[Candidate]:
    """Those that were found stay as they are; the others are looked for as they are spelt, because
    they need not be noun phrases."""
    unseen = [candidate for candidate in candidates if not candidate.frequency]
    if not unseen:
        return list(candidates)
    places = dict(_places(unseen, documents, check))
    return [
        _with_places(candidate, places.get(candidate.key, Counter())) for candidate in candidates
    ]


def _places(
    unseen: Sequence[Candidate], documents: Sequence[SourceDocument], check: Check
) -> Iterator[tuple[str, Counter[tuple[int, int]]]]:
    """For each key, how often it stands in which line of which document."""
    scanner = Scanner((Subject(_term_of(candidate)) for candidate in unseen), check=check)
    found: dict[int, Counter[tuple[int, int]]] = {}
    for document in documents:
        starts: list[int] = []
        text = document.text.replace("\r\n", "\n").replace("\r", "\n")
        for match in scanner.matches(text):
            if match.alone:
                starts = starts or _line_starts(text)
                line = bisect_right(starts, match.start)
                found.setdefault(match.subject, Counter())[document.id, line] += 1
    for number, places in found.items():
        yield unseen[number].key, places


def _term_of(candidate: Candidate) -> Term:
    return Term(
        text=candidate.text,
        key=candidate.key,
        language=candidate.language,
        reading=candidate.reading,
        variants=candidate.variants,
    )


def _line_starts(text: str) -> list[int]:
    starts = [0]
    while (end := text.find("\n", starts[-1])) >= 0:
        starts.append(end + 1)
    return starts


def _with_places(candidate: Candidate, places: Counter[tuple[int, int]]) -> Candidate:
    if candidate.frequency or not places:
        return candidate
    occurrences = [
        Occurrence(document_id, line, count)
        for (document_id, line), count in sorted(places.items())
    ]
    return replace(
        candidate,
        frequency=places.total(),
        document_count=len({document_id for document_id, _line in places}),
        occurrences=tuple(occurrences[:MOST_OCCURRENCES]),
    )
