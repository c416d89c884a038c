"""Makes a judged set of one that others have published, from its files.

    python -m benchmarks.judged.public squad|beir|smart DIR FILES…

squad: JSON files of questions on paragraphs, as SQuAD has them (JSQuAD, JaQuAD): the answer to a
question is the paragraph it was asked about. beir: a folder with corpus.jsonl, queries.jsonl and
qrels/test.tsv. smart: documents, queries and judgements of one of the old collections (Cranfield,
CISI), in this order.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.judged.sets import DOCUMENTS, Judgements, Query, read_rows, save

# Of many questions, this many at equal distances: thousands more would say the same.
MOST_QUERIES = 1000
# Cranfield's grades: 1 is a complete answer, 4 of minimum interest, -1 the document that the
# question was made from.
CRANFIELD_GRADES = {-1: 4, 1: 4, 2: 3, 3: 2, 4: 1}


class Writer:
    """The documents of a set, a file each, and what is asked about them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, str] = {}
        self.queries: list[Query] = []
        self.judgements: Judgements = {}
        (folder / DOCUMENTS).mkdir(parents=True)

    def document(self, key: str, title: str, text: str) -> None:
        path = f"{len(self._paths):05}.md"
        self._paths[key] = path
        title = " ".join(title.split())
        # A text that begins like a heading or a list is none here.
        plain = "\n".join(line.lstrip(" \t#>*-+=") for line in text.splitlines())
        (self._folder / DOCUMENTS / path).write_text(f"# {title}\n\n{plain}\n" if title else plain)

    def judge(self, query: str, key: str, grade: int) -> None:
        if grade > 0 and key in self._paths:
            self.judgements.setdefault(query, {})[self._paths[key]] = grade

    def finish(self) -> None:
        step = max(1, len(self.queries) // MOST_QUERIES)
        save(self._folder, self.queries[::step][:MOST_QUERIES], self.judgements)
        print(self._folder, len(self._paths), "documents,", len(self.queries), "queries")


def squad(writer: Writer, files: list[Path]) -> None:
    for file in files:
        for article in json.loads(file.read_text())["data"]:
            for number, paragraph in enumerate(article["paragraphs"]):
                # JSQuAD has the title before each paragraph, too.
                text = paragraph["context"].removeprefix(f"{article['title']} [SEP] ")
                key = f"{file.name} {article['title']} {number}"
                writer.document(key, article["title"], text)
                for question in paragraph["qas"]:
                    writer.queries.append(
                        Query(str(question["id"]), "question", question["question"])
                    )
                    writer.judge(str(question["id"]), key, 1)


def beir(writer: Writer, files: list[Path]) -> None:
    (folder,) = files
    for line in (folder / "corpus.jsonl").open():
        document = json.loads(line)
        writer.document(document["_id"], document["title"], document["text"])
    for line in (folder / "queries.jsonl").open():
        query = json.loads(line)
        writer.queries.append(Query(query["_id"], "query", query["text"]))
    for query_id, key, grade in read_rows(folder / "qrels" / "test.tsv"):
        if grade != "score":
            writer.judge(query_id, key, int(grade))


def smart(writer: Writer, files: list[Path]) -> None:
    documents, queries, judged = files
    for number, fields in _records(documents):
        title = fields.get(".T", "")
        # Cranfield's abstracts begin with their title.
        writer.document(number, title, fields.get(".W", "").removeprefix(title))
    is_cranfield = documents.name.startswith("cran")
    # Cranfield's judgements count the queries; their own numbers have gaps.
    for place, (number, fields) in enumerate(_records(queries), 1):
        key = str(place) if is_cranfield else number
        writer.queries.append(Query(key, "query", fields.get(".W", "")))
    for line in judged.read_text().splitlines():
        query, document, *rest = line.split()
        grade = CRANFIELD_GRADES[int(rest[0])] if is_cranfield else 1
        writer.judge(query, document, grade)


def _records(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for record in re.split(r"^\.I +", file.read_text(errors="replace"), flags=re.MULTILINE)[1:]:
        number, _, rest = record.partition("\n")
        parts = re.split(r"^(\.[A-Z])[ \t]*\n", rest, flags=re.MULTILINE)
        yield str(int(number)), dict(zip(parts[1::2], parts[2::2], strict=True))


def main() -> None:
    kind, folder, *files = sys.argv[1:]
    writer = Writer(Path(folder))
    {"squad": squad, "beir": beir, "smart": smart}[kind](writer, [Path(file) for file in files])
    writer.finish()


if __name__ == "__main__":
    main()
