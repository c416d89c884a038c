"""What the benchmark of collections does within a site: it runs in a process that has the settings
of that site, and prints JSON."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.collection_log import Lines, lines_by_git
from collection.models import Commit, Repository
from collection.origins.opening import open_origin
from collection.services.repositories import add_repository
from projects.access import OPERATOR
from projects.models import Project


def add(path: str) -> dict[str, Any]:
    """Add it, and bring over what it has: how fast that is depends on where it comes from."""
    repository = add_repository(project=Project.objects.get(), address=path, actor=OPERATOR)
    began = time.monotonic()
    with open_origin(repository) as origin:
        origin.bring(origin.heads().branches)
    return {"seconds": time.monotonic() - began}


def compare(path: str) -> dict[str, Any]:
    """What is stored, commit by commit, beside what `git log --numstat` says."""
    repository = Repository.objects.get(address=path)
    rows = Commit.objects.filter(repository=repository, unreachable=False)
    stored = {
        sha: Lines(additions, deletions)
        for sha, additions, deletions in rows.values_list("sha", "additions", "deletions")
    }
    true = lines_by_git(Path(path))
    return {
        "stored": len(stored),
        "true": len(true),
        "different": sum(stored.get(sha) != lines for sha, lines in true.items()),
        "too_many": len(stored.keys() - true.keys()),
    }


def say(what: str, path: str) -> None:
    sys.stdout.write(json.dumps({"add": add, "compare": compare}[what](path)))
