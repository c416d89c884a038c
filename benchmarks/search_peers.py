"""Search engines of others over the very same words and vectors, to look at beside ours.

They get what our analysis made of the texts, and of the query: what is compared is the engine, not
the cutting into words. Each answers with the numbers and texts of ten sections; none knows of
states, projects, snippets or transactions.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import lancedb
import numpy as np
import pyarrow
import tantivy
from django.db import connection

from indexing.embedders.wordllama import wordllama
from indexing.lexical.query import parse
from indexing.vectors.packing import unpack

LIMIT = 10
ROWS = 5000
DIMENSIONS = 256
SECTIONS = """
    SELECT section.id, heading_words || ' ' || words, content, vector
    FROM indexing_section section
    LEFT JOIN indexing_sectionvector v ON v.section_id = section.id
"""

Row = tuple[int, str, str, bytes | None]


class Peer(Protocol):
    # The way of ours that it is beside.
    beside: str

    def search(self, query: str) -> int: ...


def _rows() -> Iterator[list[Row]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(SECTIONS)
        while rows := cursor.fetchmany(ROWS):
            yield rows


class Lance:
    """A flat scan, as ours is."""

    beside = "vector"

    def __init__(self, folder: Path) -> None:
        schema = pyarrow.schema(
            [
                ("id", pyarrow.int64()),
                ("content", pyarrow.string()),
                ("vector", pyarrow.list_(pyarrow.float32(), DIMENSIONS)),
            ]
        )
        database = lancedb.connect(folder)
        self._table = database.create_table("sections", schema=schema)
        for rows in _rows():
            there = [row for row in rows if row[3]]
            flat = np.concatenate([unpack(bytes(row[3])) for row in there])
            self._table.add(
                pyarrow.table(
                    {
                        "id": [row[0] for row in there],
                        "content": [row[2] for row in there],
                        "vector": pyarrow.FixedSizeListArray.from_arrays(flat, DIMENSIONS),
                    },
                    schema=schema,
                )
            )
        # One file instead of one for each part that was added.
        self._table.optimize()

    def search(self, query: str) -> int:
        vector = wordllama().embed_query(parse(query).text)
        found = self._table.search(vector).distance_type("cosine").limit(LIMIT)
        return len(found.select(["id", "content", "_distance"]).to_list())


class Tantivy:
    beside = "lexical"

    def __init__(self, folder: Path) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("id", stored=True)
        builder.add_text_field("words", tokenizer_name="spaces")
        builder.add_text_field("content", stored=True, tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema, path=str(folder))
        spaces = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("spaces", spaces)
        writer = self._index.writer(heap_size=128 * 2**20, num_threads=1)
        for rows in _rows():
            for number, words, content, _vector in rows:
                writer.add_document(tantivy.Document(id=number, words=words, content=content))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def search(self, query: str) -> int:
        words = [
            (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "words", word))
            for word in parse(query).words
        ]
        searcher = self._index.searcher()
        found = searcher.search(tantivy.Query.boolean_query(words), LIMIT, count=False).hits
        return len([searcher.doc(address)["content"] for _score, address in found])


class RawFts5:
    """SQLite's own ranking, any of the words."""

    beside = "lexical"

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "fts5.sqlite3")
        self._database.executescript(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE section (id INTEGER PRIMARY KEY, content TEXT);
            CREATE VIRTUAL TABLE word USING fts5(words, content='', tokenize="unicode61");
            """
        )
        for rows in _rows():
            contents = [(row[0], row[2]) for row in rows]
            self._database.executemany("INSERT INTO section VALUES (?, ?)", contents)
            words = [(row[0], row[1]) for row in rows]
            self._database.executemany("INSERT INTO word (rowid, words) VALUES (?, ?)", words)
            self._database.commit()

    def search(self, query: str) -> int:
        words = " OR ".join(f'"{word}"' for word in parse(query).words)
        statement = """
            SELECT section.id, content FROM
                (SELECT rowid FROM word WHERE word MATCH ? ORDER BY bm25(word) LIMIT ?) best
            JOIN section ON section.id = best.rowid
        """
        return len(self._database.execute(statement, (words, LIMIT)).fetchall())


PEERS = {"lancedb": Lance, "tantivy": Tantivy, "fts5": RawFts5}


class Peers:
    """Those that were asked for, in a folder that goes with them."""

    def __init__(self, names: list[str]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="glossary-peers-"))
        self.all: dict[str, Peer] = {}
        for name in names:
            folder = self._folder / name
            folder.mkdir()
            self.all[name] = PEERS[name](folder)

    def close(self) -> None:
        shutil.rmtree(self._folder)
