"""Reading the index of PostgreSQL (postgres_schema.py)."""

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
    unpacked,
)
from indexing.lexical.lengths import HEADING_WEIGHT, LENGTH_BITS, LONGEST
from indexing.lexical.postgres_schema import POSTING, TALLY

_LAST = "\U0010ffff"
# As `bm25.packed` has them, one after the other: numpy takes them as they are, and no row has to
# become a Python object.
_PACKED = f"""
    string_agg(
        int8send((section_id << {2 * LENGTH_BITS}) | (hits::bigint << {LENGTH_BITS}) | length),
        ''::bytea
    )
"""
_OF_TERM = f"{POSTING} WHERE project_id = ANY(%s) AND term"


class PostgresPostings:
    def __init__(self, connection: BaseDatabaseWrapper, project_ids: Sequence[int]) -> None:
        self._connection = connection
        self._projects = list(project_ids)

    def totals(self) -> Totals:
        ((sections, words, generation),) = self._rows(
            f"""
            SELECT coalesce(sum(sections), 0), coalesce(sum(words), 0),
                (SELECT sum(generation) FROM indexing_projectindex WHERE project_id = ANY(%s))
            FROM {TALLY} WHERE project_id = ANY(%s)
            """,  # noqa: S608
            self._projects,
            self._projects,
        )
        return Totals(int(sections), int(words), int(generation or 0))

    def frequencies(self, words: Sequence[str]) -> list[int]:
        rows = self._each(f"SELECT count(*) FROM {_OF_TERM}", words)  # noqa: S608
        return [count for (count,) in rows]

    def of_words(self, words: Sequence[str]) -> list[Postings]:
        rows = self._each(f"SELECT {_PACKED} FROM {_OF_TERM}", words)  # noqa: S608
        return [unpacked(_int64(packed)) for (packed,) in rows]

    def of_frequent(self, word: str) -> Postings:
        return self.of_words([word])[0]

    def of_prefix(self, prefix: str, most: int) -> tuple[Postings, bool]:
        """And whether that is all: no more than `most` postings are read."""
        ((packed,),) = self._rows(
            f"""
            SELECT {_PACKED} FROM (
                SELECT section_id, hits, length FROM {_OF_TERM} >= %s AND term < %s LIMIT %s
            ) beginning
            """,  # noqa: S608
            self._projects,
            prefix,
            prefix + _LAST,
            most,
        )
        each = unpacked(_int64(packed))
        # A section may have several words that begin so.
        return (
            grouped(each.sections << LENGTH_BITS | each.lengths, each.hits),
            each.count < most,
        )

    def begins(self, prefix: str) -> bool:
        """Whether there is a word that begins so."""
        ((there,),) = self._rows(
            f"SELECT EXISTS (SELECT FROM {_OF_TERM} >= %s AND term < %s)",  # noqa: S608
            self._projects,
            prefix,
            prefix + _LAST,
        )
        return bool(there)

    def of_phrase(
        self, words: Sequence[str], most: int, among: Numbers | None = None
    ) -> tuple[Postings, bool]:
        """A hit for the text and those of a heading, however often it is in either.

        Sections that have all its words are read, no more than `most` of them: the latest.
        """
        sections = self._with_all(words)
        if among is not None:
            sections = np.intersect1d(sections, among, assume_unique=True)
        complete = len(sections) <= most
        sections = sections[-most:]
        phrase = f" {' '.join(words)} "
        rows = self._rows(
            f"""
            SELECT id, hits, least(
                cardinality(string_to_array(heading_words, ' '))
                + cardinality(string_to_array(words, ' ')), {LONGEST}
            )
            FROM indexing_section, LATERAL (
                SELECT (strpos(' ' || words || ' ', %s) > 0)::int
                    + (strpos(' ' || heading_words || ' ', %s) > 0)::int * {HEADING_WEIGHT} AS hits
            ) counted
            WHERE id = ANY(%s) AND hits > 0 ORDER BY id
            """,  # noqa: S608
            phrase,
            phrase,
            sections.tolist(),
        )
        if not rows:
            return NOWHERE, complete
        ids, hits, lengths = zip(*rows, strict=True)
        return Postings(numbers(list(ids)), numbers(list(hits)), numbers(list(lengths))), complete

    def sections_of(self, documents: Sequence[int]) -> Numbers:
        ((packed,),) = self._rows(
            """
            SELECT string_agg(int8send(id), ''::bytea) FROM indexing_section
            WHERE document_id = ANY(%s)
            """,
            list(documents),
        )
        return _int64(packed)

    def _with_all(self, words: Sequence[str]) -> Numbers:
        """From the rarest word on, as long as the next one can make it fewer at little cost."""
        words = list(dict.fromkeys(words))
        counts = self.frequencies(words)
        rarest = sorted(zip(counts, words, strict=True))
        sections: Numbers | None = None
        for count, word in rarest:
            if sections is not None and count > 20 * len(sections):
                break
            (postings,) = self.of_words([word])
            sections = (
                np.sort(postings.sections)
                if sections is None
                else np.intersect1d(sections, postings.sections, assume_unique=True)
            )
        return numbers([]) if sections is None else sections

    def _each(self, select: str, words: Sequence[str]) -> list[tuple[Any, ...]]:
        """The answer to `select` for each word, in their order."""
        if not words:
            return []
        return self._rows(
            f"""
            SELECT ({select} = asked.term COLLATE "C")
            FROM unnest(%s::text[]) WITH ORDINALITY asked (term, turn) ORDER BY turn
            """,  # noqa: S608
            self._projects,
            list(words),
        )

    def _rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall()


def _int64(packed: bytes | None) -> Numbers:
    return np.frombuffer(packed or b"", dtype=">i8").astype(np.int64)
