"""A judged set in a folder: documents, queries, and which answers are good for each.

    documents/        files as `importdocs` takes them
    queries.tsv       id, kind, text
    judgements.tsv    id of the query, answer, grade (1 or more; what is not there is 0)

An answer is a document's path, or a path, "#" and the number of a section's heading ("9.6.11"), as
far as it has one.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCUMENTS = "documents"
QUERIES = "queries.tsv"
JUDGEMENTS = "judgements.tsv"
_NUMBER = re.compile(r"((?:[A-Z]|\d+)(?:\.\d+)*)\.\s")

Judgements = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Query:
    id: str
    kind: str
    text: str


@dataclass(frozen=True)
class JudgedSet:
    name: str
    documents: Path
    queries: list[Query]
    judgements: Judgements

    @property
    def by_section(self) -> bool:
        return any("#" in answer for answers in self.judgements.values() for answer in answers)


def answer_id(path: str, heading: str, *, by_section: bool) -> str:
    if not by_section:
        return path
    number = _NUMBER.match(heading)
    return f"{path}#{number[1] if number else ''}"


def load(folder: Path) -> JudgedSet:
    judgements: Judgements = defaultdict(dict)
    for query, answer, grade in read_rows(folder / JUDGEMENTS):
        judgements[query][answer] = int(grade)
    queries = [Query(*row) for row in read_rows(folder / QUERIES)]
    return JudgedSet(
        name=folder.name,
        documents=folder / DOCUMENTS,
        # A query to which nothing is known to be an answer says nothing.
        queries=[query for query in queries if query.id in judgements],
        judgements=dict(judgements),
    )


def save(folder: Path, queries: Iterable[Query], judgements: Judgements) -> None:
    write_rows(folder / QUERIES, ((query.id, query.kind, query.text) for query in queries))
    write_rows(
        folder / JUDGEMENTS,
        (
            (query, answer, grade)
            for query, answers in judgements.items()
            for answer, grade in answers.items()
        ),
    )


def read_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def write_rows(path: Path, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as lines:
        for row in rows:
            # No field of ours needs more than one line, and no tab.
            lines.write("\t".join(" ".join(str(field).split()) for field in row) + "\n")
