"""Writing what an extraction found, without touching what people chose."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from glossary_site.checking import Check
from glossary_site.inserting import insert, replacing
from glossary_site.live.services import publish
from projects.categories import auto_excluding, category_keys
from projects.choices import TermStatus
from projects.models import Project, Term
from projects.models.terms import TERM_LENGTH
from projects.services.locking import lock_project
from projects.services.terms.changes import REASON_LENGTH
from projects.terms.signs import visible

# So many are compared and written at a time.
BATCH = 500
WRITTEN = (
    "text",
    "reading",
    "language",
    "category",
    "status",
    "reason",
    "score",
    "frequency",
    "document_count",
    "variants",
    "occurrences",
)


@dataclass(frozen=True)
class Found:
    """A term as an extraction found it."""

    text: str
    key: str
    reading: str
    language: str
    category: str = ""
    score: float = 0.0
    frequency: int = 0
    document_count: int = 0
    variants: Sequence[str] = ()
    # (document id, line, count), …
    occurrences: Sequence[tuple[int, int, int]] = ()
    # Why it is left out by itself; empty where it is in.
    excluded_because: str = ""


@dataclass(frozen=True)
class Taken:
    added: int
    updated: int
    removed: int


@transaction.atomic
def take_extraction(*, project: Project, found: Sequence[Found], check: Check = bool) -> Taken:
    """Make the project's terms what was found, in one step. `check` may raise, to stop.

    New ones are added, known ones follow the documents, except in what people chose. One that is
    not found any more stays, counted as nothing, if a person has ever touched it; else it goes.
    """
    lock_project(project)
    terms = Term.objects.filter(project=project)
    categories, leaving_out = category_keys(project), auto_excluding(project)
    news: dict[str, Found] = {}
    for one in found:
        news.setdefault(one.key, one)
    added = updated = 0
    keys = list(news)
    for first in range(0, len(keys), BATCH):
        check()
        batch = keys[first : first + BATCH]
        known = {term.key: term for term in terms.filter(key__in=batch)}
        rows = [_as_found(project, news[k], known.get(k), categories, leaving_out) for k in batch]
        new = [row for row in rows if row.key not in known]
        changed = [row for row in rows if row.key in known and _differ(row, known[row.key])]
        _write([*new, *changed])
        added, updated = added + len(new), updated + len(changed)
    check()
    # What is about to go is not looked at: it may be all there was.
    lost = [term for term in terms.defer("variants", "occurrences") if term.key not in news]
    left = [_as_lost(term) for term in lost if _is_touched(term) and _has_figures(term)]
    removed = [term.pk for term in lost if not _is_touched(term)]
    _write(left)
    terms.filter(pk__in=removed).only("pk").delete()
    taken = Taken(added, updated + len(left), len(removed))
    if taken != Taken(0, 0, 0):
        _tell(project, taken)
    return taken


def _differ(row: Term, before: Term) -> bool:
    return any(getattr(row, name) != getattr(before, name) for name in WRITTEN)


def _as_found(
    project: Project,
    found: Found,
    before: Term | None,
    categories: frozenset[str],
    leaving_out: frozenset[str],
) -> Term:
    text = visible(found.text)
    # As the documents have it, where that is with signs that nobody sees: to find it there.
    hidden = [] if text == found.text else [found.text]
    term = Term(
        project=project,
        text=text[:TERM_LENGTH],
        key=found.key,
        reading=found.reading[:TERM_LENGTH],
        language=found.language,
        category=found.category if found.category in categories else "",
        score=found.score,
        frequency=found.frequency,
        document_count=found.document_count,
        variants=[*hidden, *found.variants],
        occurrences=[list(place) for place in found.occurrences],
    )
    if before is not None and "text" in before.chosen:
        term.text, term.reading, term.language = before.text, before.reading, before.language
    if before is not None and "category" in before.chosen:
        term.category = before.category
    if before is not None and before.is_decided:
        term.status, term.reason = before.status, before.reason
        return term
    because = found.excluded_because or (term.category if term.category in leaving_out else "")
    if because:
        term.status, term.reason = TermStatus.AUTO_EXCLUDED, because[:REASON_LENGTH]
    return term


def _is_touched(term: Term) -> bool:
    return bool(term.chosen or term.notes or term.group_id or term.by_hand)


def _has_figures(term: Term) -> bool:
    """An excluded term is not looked for, so that not finding it means nothing."""
    return bool(term.frequency or term.score) and term.status != TermStatus.EXCLUDED


def _as_lost(term: Term) -> Term:
    nothing = {
        "score": 0.0,
        "frequency": 0,
        "document_count": 0,
        "variants": [],
        "occurrences": [],
    }
    kept = {name: getattr(term, name) for name in WRITTEN if name not in nothing}
    return Term(project_id=term.project_id, key=term.key, **{**kept, **nothing})


def _write(terms: Sequence[Term]) -> None:
    """Known or new in the same few statements. Rows without a key of the table: the database finds
    them by the term's, and leaves the columns that are not named alone."""
    columns = (*WRITTEN, "updated_at")
    insert(terms, on_conflict=replacing(unique=("project_id", "key"), columns=columns))


def _tell(project: Project, taken: Taken) -> None:
    publish(
        project.stream,
        "terms.changed",
        {
            "action": "extracted",
            "count": taken.added + taken.updated + taken.removed,
            "added": taken.added,
            "changed": taken.updated,
            "removed": taken.removed,
            "terms": [],
            "by": "",
        },
    )
