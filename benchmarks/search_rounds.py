"""How long searches take in a warm process, ours and others' in turns.

    python -m benchmarks.search_rounds PROJECT QUERIES COUNT [PEERS]

Other queries of the same kinds go through every way before anything is measured: what they leave at
hand is there, but nothing is asked a second time. Then each is asked of one way after the other, so
that a busy moment of the machine falls on all. Ours is the whole answer: with
texts, snippets and states, from one view of the database. Answers with a line of JSON.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
import django

django.setup()

from benchmarks.search_peers import Peers  # noqa: E402
from indexing.choices import Mode  # noqa: E402
from indexing.search import meaning  # noqa: E402
from indexing.search.options import SearchOptions  # noqa: E402
from indexing.search.service import search  # noqa: E402

Way = Callable[[str], object]


def ours(project_id: int, mode: Mode) -> Way:
    def ask(query: str) -> object:
        # The vector of a query is not kept for the next round: people do not ask the same thing.
        meaning._recent = meaning.Recent(0)
        return search(SearchOptions(query=query, project_ids=(project_id,), mode=mode))

    return ask


def measure(project_id: int, queries: dict[str, list[str]], count: int, peers: Peers) -> dict:
    ways: dict[str, Way] = {mode.value: ours(project_id, mode) for mode in Mode}
    ways |= {name: peer.search for name, peer in peers.all.items()}
    times: dict[str, dict[str, list[tuple[float, float]]]] = {way: {} for way in ways}
    for asked in queries.values():
        for query in asked[count:]:
            for ask in ways.values():
                ask(query)
    for kind, asked in queries.items():
        for query in asked[:count]:
            for way, ask in ways.items():
                began, processor = time.perf_counter(), time.process_time()
                ask(query)
                took = 1000 * (time.perf_counter() - began)
                worked = 1000 * (time.process_time() - processor)
                times[way].setdefault(kind, []).append((took, worked))
    return times


if __name__ == "__main__":
    project, path, number, *names = sys.argv[1:]
    beside = Peers(names)
    try:
        given = json.loads(Path(path).read_text())
        print(json.dumps(measure(int(project), given, int(number), beside)))
    finally:
        beside.close()
