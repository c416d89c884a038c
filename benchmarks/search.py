"""Indexing and searching 1,000 to 100,000 sections, beside other engines in the same run.

    python -m benchmarks.search [--sizes 1000,10000,100000] [--modes embedded,scaled]
                               [--peers lancedb,tantivy,fts5] [--queries 100] [--starts 40]
                               [--from DIR]

Without `--from` the texts are made up, in English and Japanese. With it they are the manuals below
DIR, and copies of these with some words exchanged; on Debian, manuals in both languages are to be
had without installing anything:

    apt-get download debian-handbook debian-reference-en debian-reference-ja \\
        maint-guide maint-guide-ja manpages manpages-ja
    for package in *.deb; do dpkg-deb -x "$package" manuals; done

A process stores documents and indexes them up to each size, and on SQLite a bare script does so
with the same texts; others search. Rates are given by the
clock and by the processor time of the process: on a busy machine the second says more. The scaled
mode runs with DATABASE_URL and REDIS_URL set; what the database server does is not in its
processor time. All libraries are held to one thread, ours and those of the peers.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from benchmarks.site import ROOT, Site, a_site

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "RAYON_NUM_THREADS",
        "TOKIO_WORKER_THREADS",
        # (LANCE_IO_THREADS=1 would make it wait for itself for ever.)
        "LANCE_CPU_THREADS",
    ),
    "1",
)
WAYS = ("lexical", "vector", "hybrid")
GOALS = (
    "Goals at 100,000 sections: 1,500 sections/s a core; 600 MB in a process, however many "
    "sections; p95 of hybrid 40 ms (short) and 65 ms (long), of vector 30 ms; start p95 100 ms "
    "embedded."
)
FIRST_TEXTS = 10


def child(site: Site, module: str, *arguments: object, **more: str) -> dict:
    """What a script beside this one answers when it has run in a fresh process."""
    finished = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)],
        env={**site.environment, **ONE_THREAD, **more},
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(finished.stdout.splitlines()[-1])


def p50_p95(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]


class Table:
    """Its rows are shown on the way, and all together at the end."""

    def __init__(self, *columns: str) -> None:
        self._lines = [self._line(columns), self._line(["---"] * len(columns))]

    def add(self, *cells: object) -> None:
        line = self._line(cells)
        sys.stderr.write(f"{line}\n")
        self._lines.append(line)

    def show(self) -> None:
        print("\n" + "\n".join(self._lines), flush=True)

    @staticmethod
    def _line(cells: Iterable[object]) -> str:
        return "| " + " | ".join(str(cell) for cell in cells) + " |"


class Corpus:
    def __init__(self, folder: Path, sizes: list[int], source: Path | None) -> None:
        self.documents = folder / "documents"
        self.queries = folder / "queries"
        self.sizes = sizes
        site = Site("texts", {**os.environ, "GLOSSARY_DATA_DIR": str(folder)}, 0, 0, "")
        made = subprocess.run(
            [sys.executable, "-m", "benchmarks.search_texts", str(sizes[-1]), str(folder)]
            + ([str(source)] if source else []),
            env=site.environment,
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        print(f"Texts: {'natural' if source else 'made up'}; {made.stdout.strip()}.")

    def steps(self) -> list[tuple[int, int]]:
        """For each size, how many documents to pass over and how many to take."""
        with self.documents.open() as lines:
            totals = list(itertools.accumulate(json.loads(line)["sections"] for line in lines))
        ends = [next(n for n, total in enumerate(totals, 1) if total >= s) for s in self.sizes]
        return list(itertools.pairwise([0, *ends]))


def index(
    site: Site, corpus: Corpus, first: int, end: int, table: Table, what: str, **more: str
) -> None:
    seen = child(
        site,
        "search_side",
        "index",
        site.project_id,
        corpus.documents,
        first,
        end - first,
        **more,
    )
    seconds = seen["store_seconds"] + seen["seconds"]
    processor = seen["store_processor"] + seen["processor"]
    table.add(
        f"{site.name}, {what}",
        seen["total"],
        *(
            f"{seen['sections'] / each:.0f}" if each else ""
            for each in (seconds, processor, seen["processor"])
        ),
        *(f"{seen[key]:.0f}" for key in ("peak", "own", "disk")),
    )


def bare(site: Site, corpus: Corpus, first: int, end: int, table: Table) -> None:
    """The same texts through a script that does nothing else, for the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        seen = child(site, "search_bare", corpus.documents, first, end - first, folder)
    rates = [f"{seen['ours'] / seen[key]:.0f}" for key in ("seconds", "processor")]
    table.add("a script with the same packages", seen["ours"], *rates, rates[1], "", "", "")


def search(
    site: Site, corpus: Corpus, size: int, table: Table, options: argparse.Namespace
) -> None:
    seen = child(
        site, "search_rounds", site.project_id, corpus.queries, options.queries, *options.peers
    )
    for way, kinds in seen.items():
        cells = []
        for times in kinds.values():
            p50, p95 = p50_p95([took for took, _worked in times])
            _middle, worked = p50_p95([worked for _took, worked in times])
            cells.append(f"{p50:.1f} / {p95:.1f} ({worked:.1f})")
        table.add(site.name, size, way, *cells)


def cold(site: Site, corpus: Corpus, table: Table) -> None:
    query = json.loads(corpus.queries.read_text())["short en"][0]
    for way in WAYS:
        seen = child(site, "search_side", "first", site.project_id, query, way)
        cells = (f"{seen[key]:.0f}" for key in ("setup", "first", "next", "rss"))
        table.add(site.name, corpus.sizes[-1], way, *cells)


def start_latency(site: Site, count: int, table: Table) -> None:
    """With a real worker; its largest process is looked at when all is done."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready"
        worker = subprocess.Popen(
            [sys.executable, "manage.py", "worker", "--ready-file", str(ready)],
            env={**site.environment, **ONE_THREAD},
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + 60
            while not ready.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            # The first texts find workers that have loaded nothing yet.
            child(site, "search_side", "start", site.project_id, FIRST_TEXTS)
            seen = child(site, "search_side", "start", site.project_id, count)
            family = psutil.Process(worker.pid).children(recursive=True)
            largest = max(process.memory_info().rss for process in family) / 2**20
        finally:
            worker.terminate()
            worker.wait()
    begin, find = p50_p95(seen["begin"]), p50_p95(seen["find"])
    table.add(
        site.name,
        count,
        *(f"{p50:.0f} / {p95:.0f}" for p50, p95 in (begin, find)),
        f"{largest:.0f}",
    )


def measure(mode: str, corpus: Corpus, options: argparse.Namespace) -> None:
    indexing = Table(
        "indexing",
        "sections in all",
        "sections/s",
        "a second of processor",
        "the same, without storing",
        "peak MB",
        "own MB",
        "disk MB",
    )
    kinds = json.loads(corpus.queries.read_text())
    searching = Table("p50 / p95 ms (p95 of processor)", "sections", "way", *kinds)
    starting = Table(
        "a new process", "sections", "way", "imports, ms", "first search", "second", "memory, MB"
    )
    waking = Table("with a worker", "texts", "start, ms", "found, ms", "largest process, MB")
    steps = corpus.steps()
    with a_site(mode) as site:
        # The largest takes long, and is no different.
        for first, end in steps[:-1] or steps:
            index(site, corpus, first, end, indexing, "words only", GLOSSARY_EMBEDDER="none")
    with a_site(mode) as site:
        for size, (first, end) in zip(corpus.sizes, steps, strict=True):
            index(site, corpus, first, end, indexing, "words and vectors")
            if mode == "embedded" and (first, end) != steps[-1]:
                bare(site, corpus, first, end, indexing)
            search(site, corpus, size, searching, options)
        cold(site, corpus, starting)
        if options.starts:
            start_latency(site, options.starts, waking)
    for table in (indexing, searching, starting, waking):
        table.show()


def names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--modes", type=names, default=[], help="embedded, scaled")
    parser.add_argument("--peers", type=names, default=["lancedb", "tantivy", "fts5"])
    parser.add_argument(
        "--queries",
        type=int,
        default=100,
        help="of each kind, 100 at most: the rest of 200 are asked before",
    )
    parser.add_argument("--starts", type=int, default=40, help="texts to wait for; 0: none")
    parser.add_argument("--from", dest="source", type=Path)
    options = parser.parse_args()
    modes = options.modes or ["embedded"]
    if not options.modes and os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        modes.append("scaled")
    sizes = sorted(int(size) for size in names(options.sizes))
    print(GOALS)
    with tempfile.TemporaryDirectory(prefix="glossary-texts-") as folder:
        corpus = Corpus(Path(folder), sizes, options.source)
        for mode in modes:
            measure(mode, corpus, options)


if __name__ == "__main__":
    main()
