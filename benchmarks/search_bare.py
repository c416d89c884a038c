"""What indexing takes when nothing is around it: a script with the same packages, for its rate.

    python -m benchmarks.search_bare DOCUMENTS SKIP COUNT FOLDER

Texts are parsed by markdown-it, cut at headings and, where long, at blank lines; Sudachi cuts
words, WordLlama's table gives vectors, and all goes into one SQLite file in transactions of a
thousand sections. There are no token limits, states, projects, permissions or reuse, and nothing
is safe from a kill. Its sections are not quite ours, so what counts is the share of the time for
the same texts. Answers with a line of JSON.
"""

import itertools
import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from markdown_it import MarkdownIt
from safetensors.numpy import load_file
from sudachipy import Dictionary, SplitMode
from tokenizers import Tokenizer

from indexing.embedders.files import folder_of
from indexing.embedders.wordllama import PACKAGE, TOKENIZER, WEIGHTS

LONGEST = 1_500
ROWS = 1_000

Section = tuple[str, str]


def sections(text: str, parser: MarkdownIt) -> Iterator[Section]:
    """Heading and text."""
    lines = text.split("\n")
    tokens = parser.parse(text)
    heads = [
        (*token.map, tokens[place + 1].content)
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    for (_start, first, heading), following in zip(
        [(0, 0, ""), *heads], [*heads, (len(lines), 0, "")], strict=True
    ):
        body = "\n".join(lines[first : following[0]]).strip()
        for part in parts(body):
            yield heading, part


def parts(body: str) -> Iterator[str]:
    part = ""
    for paragraph in body.split("\n\n"):
        if part and len(part) + len(paragraph) > LONGEST:
            yield part
            part = ""
        part = f"{part}\n\n{paragraph}" if part else paragraph
    yield part


class Script:
    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "bare.sqlite3")
        self._database.executescript(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE section (id INTEGER PRIMARY KEY, heading TEXT, content TEXT, vector BLOB);
            CREATE VIRTUAL TABLE word USING fts5(words, content='', tokenize='porter unicode61');
            """
        )
        package = folder_of(PACKAGE)
        assert package is not None
        (halves,) = load_file(package / WEIGHTS).values()
        self._table = halves.astype(np.float32)
        self._tokenizer = Tokenizer.from_file(str(package / TOKENIZER))
        self._sudachi = Dictionary().tokenizer(SplitMode.A)
        self._parser = MarkdownIt("commonmark").enable("table")

    def index(self, texts: Iterator[str]) -> int:
        found = (section for text in texts for section in sections(text, self._parser))
        count = 0
        while rows := list(itertools.islice(found, ROWS)):
            self._write(rows, count)
            count += len(rows)
        return count

    def _write(self, rows: list[Section], first: int) -> None:
        whole = [f"{heading}\n{body}" for heading, body in rows]
        words = [
            " ".join(word.surface() for word in self._sudachi.tokenize(text[:12_000]))
            for text in whole
        ]
        tokens = self._tokenizer.encode_batch(whole, add_special_tokens=False)
        numbers = range(first, first + len(rows))
        vectors = []
        for each in tokens:
            mean = self._table[each.ids or [0]].mean(axis=0)
            vectors.append((mean / (np.linalg.norm(mean) or 1)).astype(np.float16).tobytes())
        with self._database as database:
            database.executemany(
                "INSERT INTO section VALUES (?, ?, ?, ?)",
                [
                    (number, *row, vector)
                    for number, row, vector in zip(numbers, rows, vectors, strict=True)
                ],
            )
            database.executemany(
                "INSERT INTO word (rowid, words) VALUES (?, ?)", zip(numbers, words, strict=True)
            )


def main() -> None:
    documents, skip, count, folder = sys.argv[1:]
    script = Script(Path(folder))
    with open(documents) as lines:
        given = map(json.loads, itertools.islice(lines, int(skip), int(skip) + int(count)))
        texts, ours = zip(*((each["content"], each["sections"]) for each in given), strict=True)
    began, processor = time.perf_counter(), time.process_time()
    made = script.index(iter(texts))
    answer = {
        "sections": made,
        "ours": sum(ours),
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - processor,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
