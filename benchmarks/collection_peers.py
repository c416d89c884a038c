"""Others that read histories, each in a process of its own: it prints JSON.

    python -m benchmarks.collection_peers pydriller|perceval REPOSITORY FOLDER

Both give commits with added and deleted lines to whoever asks, and store nothing.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any


def pydriller(path: str, _folder: str) -> Iterator[tuple[int, int]]:
    from pydriller import Repository

    for commit in Repository(path, only_in_branch="main").traverse_commits():
        yield commit.insertions, commit.deletions


def perceval(path: str, folder: str) -> Iterator[tuple[int, int]]:
    from perceval.backends.core.git import Git, GitRepository

    # Its copy is made before the clock starts, as ours is.
    GitRepository.clone(path, f"{folder}/copy")
    yield -1, -1
    for item in Git(path, f"{folder}/copy").fetch(branches=["main"], no_update=True):
        files = item["data"]["files"]
        yield tuple(
            sum(int(file.get(kind, "0")) for file in files if file.get(kind, "-") != "-")
            for kind in ("added", "removed")
        )


PEERS: dict[str, Callable[[str, str], Iterator[Any]]] = {
    "pydriller": pydriller,
    "perceval": perceval,
}


def main() -> None:
    name, path, folder = sys.argv[1:]
    began = time.monotonic()
    count = additions = deletions = 0
    for added, deleted in PEERS[name](path, folder):
        if added < 0:
            began = time.monotonic()
            continue
        count, additions, deletions = count + 1, additions + added, deletions + deleted
    seconds = time.monotonic() - began
    told = {"seconds": seconds, "commits": count, "additions": additions, "deletions": deletions}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
