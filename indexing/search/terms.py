"""What the glossary says about a search: the terms that stand in what was found, and the entry that
the query asks for.

The names of a glossary are read and taken apart once in each process, and then kept for as long as
nothing has changed: every change of a glossary leaves a revision, so its newest one tells. What is
shown of an entry is read anew each time.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models.functions import Left, Length
from django.utils.text import Truncator

from indexing.lexical.query import Query
from indexing.search.names import Names, Row
from indexing.search.options import EntryAsked, TermHere
from indexing.search.rows import rows_of
from indexing.sections.sentences import sentence_ends
from projects.models import GlossaryEntry
from projects.models.terms import TERM_LENGTH

MOST_TERMS = 5
SUMMARY_LENGTH = 200
# As much of a definition as has its first sentence, or enough of one that is longer.
SUMMARY_FROM = 300
# A term and a few words around it.
LONGEST_ASKED = TERM_LENGTH + 50
# Glossaries of which a process keeps the names.
MOST_KEPT = 32

# How people ask for a meaning, around the term.
_QUESTIONS = (
    re.compile(
        r"(?:what(?:['’]s| is| are| does)|define|(?:the )?(?:definition|meaning) of)\s+"
        r"(?:an? |the )?(?P<term>.+?)(?: means?)?\s*\??",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<term>.+?)(?:とは(?:何(?:ですか|か)?|なに|なん(?:ですか)?)?"
        r"|って(?:何|なに)(?:ですか)?|の(?:意味|定義)(?:は|とは)?)\s*[?？。]?"
    ),
)


class Text(NamedTuple):
    """What was found of a section."""

    section_id: int
    project_id: int
    text: str


# The newest revision of a glossary. Its number alone would do in one database; with the batch,
# which is random, a database that was put back to an earlier time does not look like a later one.
# (A UUID, as the database has it.)
Stamp = tuple[int, object]
_STAMPS = """
    SELECT newest.project_id, newest.id, newest.batch
    FROM projects_project project
    JOIN projects_entryrevision newest ON newest.id = (
        SELECT max(id) FROM projects_entryrevision WHERE project_id = project.id
    )
    WHERE project.id IN {ids}
"""


class _Kept(NamedTuple):
    stamp: Stamp
    names: Names


class Glossaries:
    """The names that a process has at hand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, _Kept] = OrderedDict()

    def names(self, project_ids: Iterable[int]) -> dict[int, Names]:
        """Of the projects that have a glossary: one query, and one more where some have changed."""
        stamps = _stamps(project_ids)
        names: dict[int, Names] = {}
        with self._lock:
            for project_id, stamp in stamps.items():
                kept = self._kept.get(project_id)
                if kept is not None and kept.stamp == stamp:
                    self._kept.move_to_end(project_id)
                    names[project_id] = kept.names
        # Without the lock: two that read the same at once waste a little, and nobody waits.
        for project_id, read in _read(stamps.keys() - names.keys()).items():
            names[project_id] = read
            self._keep(project_id, _Kept(stamps[project_id], read))
        return names

    def _keep(self, project_id: int, kept: _Kept) -> None:
        with self._lock:
            self._kept[project_id] = kept
            self._kept.move_to_end(project_id)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


glossaries = Glossaries()


def _stamps(project_ids: Iterable[int]) -> dict[int, Stamp]:
    """No revision, no entry."""
    return {pk: (revision, batch) for pk, revision, batch in rows_of(_STAMPS, set(project_ids))}


def _read(project_ids: Iterable[int]) -> dict[int, Names]:
    rows: dict[int, list[Row]] = {pk: [] for pk in project_ids}
    if not rows:
        return {}
    entries = GlossaryEntry.objects.filter(project__in=rows).order_by("pk")
    for project_id, *row in entries.values_list("project_id", "pk", "term", "key", "aliases"):
        rows[project_id].append(Row(*row))
    return {pk: Names(found) for pk, found in rows.items()}


def look_up(
    texts: Sequence[Text], query: Query, project_ids: Sequence[int]
) -> tuple[dict[int, tuple[TermHere, ...]], EntryAsked | None]:
    """The terms in each section, and the entry that is asked for. As many queries for a page of
    sections as for one."""
    # Which of several glossaries would be meant, the query does not say.
    asked_in = project_ids[0] if len(project_ids) == 1 and not query.excluded else None
    wanted = {text.project_id for text in texts} | ({asked_in} if asked_in else set())
    names = glossaries.names(wanted)
    here = {
        text.section_id: names[text.project_id].ids_in(text.text)
        for text in texts
        if text.project_id in names
    }
    asked = _asked(query.text, names[asked_in]) if asked_in in names else []
    return _best(here), _entry(asked)


def _best(here: Mapping[int, set[int]]) -> dict[int, tuple[TermHere, ...]]:
    """Of the entries in each section, the best few, the best first."""
    ids = set().union(*here.values())
    if not ids:
        return {}
    # A score may change without a revision: it is no part of what is kept. Longer terms say more;
    # entries written by hand have no score.
    rows = GlossaryEntry.objects.filter(pk__in=ids).order_by("-score", -Length("term"), "pk")
    beginning = Left("definition", SUMMARY_FROM)
    best: dict[int, list[TermHere]] = {section_id: [] for section_id in here}
    columns = rows.values_list("pk", "project_id", "term", "language", beginning)
    for pk, project_id, name, language, text in columns:
        wanting = [
            terms
            for section_id, terms in best.items()
            if len(terms) < MOST_TERMS and pk in here[section_id]
        ]
        if wanting:
            term = TermHere(pk, project_id, name, language, summary_of(text))
            for terms in wanting:
                terms.append(term)
    return {section_id: tuple(terms) for section_id, terms in best.items()}


def _asked(query: str, names: Names) -> list[int]:
    if len(query) > LONGEST_ASKED:
        return []
    for text in (query, *_meant(query)):
        if ids := names.named(text):
            return ids
    return []


def _meant(query: str) -> Iterable[str]:
    for question in _QUESTIONS:
        if found := question.fullmatch(query):
            yield found["term"]


def _entry(ids: Sequence[int]) -> EntryAsked | None:
    """The best of those that have the name."""
    rows = GlossaryEntry.objects.listed().order_by("-score", "pk")
    entry = rows.filter(pk__in=ids).first() if ids else None
    if entry is None:
        return None
    return EntryAsked(
        id=entry.pk,
        project_id=entry.project_id,
        term=entry.term,
        language=entry.language,
        definition=entry.definition,
        aliases=tuple(entry.aliases),
        supported=entry.supported,
        needs_review=entry.needs_review,
    )


def summary_of(definition: str) -> str:
    """The first sentence of a definition, in one line."""
    text = " ".join(definition.split())
    ends = sentence_ends(text, 0, len(text))
    return Truncator(text[: ends[0]].strip() if ends else text).chars(SUMMARY_LENGTH)
