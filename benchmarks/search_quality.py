"""How good the answers of the search are: nDCG@10 and recall@10 on judged sets.

    python -m benchmarks.judged.debian DIR
    python -m benchmarks.search_quality --set DIR/debian-en --set DIR/debian-ja
        [--embedder wordllama] [--embedder minilm] [--weights 0.1 0.2 …] [--kinds]

A set is a folder as benchmarks/judged/sets.py describes it; benchmarks/judged/public.py makes one
of what others have published. Each is imported and indexed by a site of its own (SQLite, or with
DATABASE_URL set also PostgreSQL) and asked through the search that pages and programs use. After
the figures of the mix stands by how much it is better than words alone, and between which bounds in
95 of 100 drawings of other queries from the same set. With `--weights`, only the mix is asked, once
with each of these weights, and figures are given for either half of the queries as well: choose by
one half, and look at the other.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.judged.measures import difference, mean, ndcg, recall
from benchmarks.judged.sets import JudgedSet, load
from benchmarks.site import ROOT, Site, a_site

LEXICAL, VECTOR, HYBRID = "lexical", "vector", "hybrid"
Answers = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Asked:
    """What a site has answered, and the judgements that can count there."""

    judgements: Mapping[str, Mapping[str, int]]
    ways: Mapping[str, Answers]

    def values(self, way: str, measure: object = ndcg) -> list[float]:
        assert callable(measure)
        return [measure(self.ways[way][query], good) for query, good in self.judgements.items()]


def ask(site: Site, project: str, folder: Path, weights: Sequence[str]) -> Asked:
    judged = load(folder)
    output = subprocess.run(
        [sys.executable, "-m", "benchmarks.judged.asking", project, str(folder), *weights],
        env={**site.environment, "DJANGO_SETTINGS_MODULE": "glossary_site.settings"},
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found = json.loads(output)
    return Asked(that_count(judged, set(found["answers"])), found["ways"])


def that_count(judged: JudgedSet, there: set[str]) -> dict[str, dict[str, int]]:
    """A section that was put together with its neighbour, or is not translated, cannot be found."""
    counted = {
        query.id: {
            answer: grade
            for answer, grade in judged.judgements[query.id].items()
            if answer in there
        }
        for query in judged.queries
    }
    return {query: answers for query, answers in counted.items() if answers}


def import_set(site: Site, folder: Path) -> str:
    """The project's id."""
    site.manage("importdocs", folder.name, str(load(folder).documents), "--create")
    site.manage("index", "status", "--project", folder.name, "--wait")
    listed = json.loads(
        site.manage("index", "status", "--project", folder.name, "--format", "json").stdout
    )
    return str(listed["projects"][0]["id"])


def table(rows: Iterable[Sequence[str]]) -> None:
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def figures(name: str, asked: Asked) -> list[str]:
    words, mixed = asked.values(LEXICAL), asked.values(HYBRID)
    gain, low, high = difference(mixed, words)
    return [
        name,
        str(len(words)),
        *(
            f"{mean(asked.values(way)):.3f} / {mean(asked.values(way, recall)):.3f}"
            for way in (LEXICAL, VECTOR, HYBRID)
        ),
        f"{gain:+.3f} ({low:+.3f} … {high:+.3f})",
    ]


def by_kind(name: str, asked: Asked, judged: JudgedSet) -> Iterable[list[str]]:
    kinds: dict[str, list[str]] = {}
    for query in judged.queries:
        kinds.setdefault(query.kind, []).append(query.id)
    for kind, queries in kinds.items():
        chosen = {query: asked.judgements[query] for query in queries if query in asked.judgements}
        yield figures(f"{name}, {kind}", Asked(chosen, asked.ways))


def halves(name: str, asked: Asked) -> Iterable[list[str]]:
    for way in asked.ways:
        values = asked.values(way)
        yield [name, way, *(f"{mean(part):.4f}" for part in (values, values[::2], values[1::2]))]


def measure(site: Site, arguments: argparse.Namespace) -> None:
    for folder in arguments.sets:
        for embedder in arguments.embedders:
            site.environment["GLOSSARY_EMBEDDER"] = embedder
            project = import_set(site, folder)
            asked = ask(site, project, folder, arguments.weights)
            name = f"{folder.name}, {embedder}, {site.name}"
            if arguments.weights:
                table(halves(name, asked))
                continue
            table([figures(name, asked)])
            if arguments.kinds:
                table(by_kind(folder.name, asked, load(folder)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", dest="sets", type=Path, action="append", required=True)
    parser.add_argument("--embedder", dest="embedders", action="append")
    parser.add_argument("--weights", nargs="*", default=[])
    parser.add_argument("--kinds", action="store_true", help="for each kind of query as well")
    arguments = parser.parse_args()
    arguments.embedders = arguments.embedders or ["wordllama"]
    arguments.sets = [folder.resolve() for folder in arguments.sets]
    heads = (
        ["set", "weight", "nDCG@10", "one half", "the other"]
        if arguments.weights
        else ["set", "queries", "words", "vectors", "mixed", "nDCG@10, mixed to words"]
    )
    table([heads, ["---"] * len(heads)])
    for mode in ("embedded", "scaled") if os.environ.get("DATABASE_URL") else ("embedded",):
        with a_site(mode) as site:
            measure(site, arguments)


if __name__ == "__main__":
    main()
