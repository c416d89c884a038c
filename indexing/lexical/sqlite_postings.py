"""Reading the index of SQLite (sqlite_schema.py)."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper

from indexing.lexical.bm25 import (
    NOWHERE,
    Numbers,
    Postings,
    Totals,
    grouped,
    numbers,
)
from indexing.lexical.lengths import HEADING_WEIGHT
from indexing.lexical.sqlite_schema import FREQUENCY, PLACE, TABLE, TALLY

# The last of all characters: beyond every term that begins so.
_LAST = "\U0010ffff"
# One long text is handed over much quicker than many short rows.
_PLACES = f"SELECT group_concat(iif(col = 'words', doc, -doc)) FROM {PLACE}"  # noqa: S608


class SqlitePostings:
    def __init__(self, connection: BaseDatabaseWrapper, project_ids: Sequence[int]) -> None:
        self._connection = connection
        self._projects = project_ids

    def totals(self) -> Totals:
        sections, words, generation = self._row(
            f"""
            WITH wanted AS (SELECT value FROM json_each(%s))
            SELECT coalesce(sum(sections), 0), coalesce(sum(words), 0),
                (SELECT sum(generation) FROM indexing_projectindex WHERE project_id IN wanted)
            FROM {TALLY} WHERE project_id IN wanted
            """,  # noqa: S608
            json.dumps(list(self._projects)),
        )
        return Totals(sections, words, generation or 0)

    def frequencies(self, words: Sequence[str]) -> list[int]:
        one = f"coalesce((SELECT doc FROM {FREQUENCY} WHERE term = %s), 0)"  # noqa: S608
        counts = [0] * len(words)
        for project in self._projects:
            row = self._each(one, project, words)
            counts = [count + more for count, more in zip(counts, row, strict=True)]
        return counts

    def of_words(self, words: Sequence[str]) -> list[Postings]:
        found: list[list[Numbers]] = [[] for _ in words]
        for project in self._projects:
            row = self._each(f"({_PLACES} WHERE term = %s)", project, words)
            for entries, text in zip(found, row, strict=True):
                if text:
                    entries.append(_parsed(text))
        return [_postings(entries) for entries in found]

    def of_frequent(self, word: str) -> Postings:
        """Of a word that is nearly everywhere, it is not counted how often: reading each place
        would take long, and change nothing."""
        return self.of_phrase([word], 0)[0]

    def of_prefix(self, prefix: str, most: int) -> tuple[Postings, bool]:
        """And whether that is all: no more than `most` places are read."""
        entries = []
        for project in self._projects:
            (text,) = self._row(
                f"""
                SELECT group_concat(entry) FROM (
                    SELECT iif(col = 'words', doc, -doc) AS entry FROM {PLACE}
                    WHERE term >= %s AND term < %s LIMIT %s
                )
                """,  # noqa: S608
                *_range(project, prefix),
                most,
            )
            if text:
                entries.append(_parsed(text))
        return _postings(entries), all(len(each) < most for each in entries)

    def begins(self, prefix: str) -> bool:
        """Whether there is a word that begins so."""
        any_term = f"SELECT EXISTS (SELECT 1 FROM {FREQUENCY} WHERE term >= %s AND term < %s)"  # noqa: S608
        return any(self._row(any_term, *_range(each, prefix)) == (1,) for each in self._projects)

    def of_phrase(
        self, words: Sequence[str], most: int, among: Numbers | None = None
    ) -> tuple[Postings, bool]:
        """A hit for the text and those of a heading, however often it is in either."""
        match = f"SELECT group_concat({{sign}}rowid) FROM {TABLE} WHERE {TABLE} MATCH %s"  # noqa: S608
        entries = []
        for project in self._projects:
            # Words have no quotes in them.
            phrase = '"' + " ".join(f"{project}:{word}" for word in words) + '"'
            for column, sign in (("words", ""), ("heading_words", "-")):
                (text,) = self._row(match.format(sign=sign), f"{column} : {phrase}")
                if text:
                    entries.append(_parsed(text))
        return _postings(entries), True

    def sections_of(self, documents: Sequence[int]) -> Numbers:
        (text,) = self._row(
            """
            SELECT group_concat(id) FROM indexing_section
            WHERE document_id IN (SELECT value FROM json_each(%s))
            """,
            json.dumps(list(documents)),
        )
        return _parsed(text) if text else numbers([])

    def _each(self, expression: str, project: int, words: Sequence[str]) -> tuple[Any, ...]:
        if not words:
            return ()
        columns = ", ".join([expression] * len(words))
        return self._row(f"SELECT {columns}", *(f"{project}:{word}" for word in words))

    def _row(self, sql: str, *parameters: Any) -> tuple[Any, ...]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            row: tuple[Any, ...] = cursor.fetchone()
            return row


def _range(project: int, prefix: str) -> tuple[str, str]:
    return f"{project}:{prefix}", f"{project}:{prefix}{_LAST}"


def _parsed(text: str) -> Numbers:
    return np.fromstring(text, dtype=np.int64, sep=",")


def _postings(entries: list[Numbers]) -> Postings:
    """From rowids; a negative one is of a heading."""
    if not entries:
        return NOWHERE
    rowids = np.concatenate(entries)
    return grouped(np.abs(rowids), np.where(rowids < 0, HEADING_WEIGHT, 1))
