"""Collecting a long history: commits a second with their lines, into both databases, beside others.

    python -m benchmarks.collection --from REPOSITORY [--limit 20000] [--no-peers]
        [--peer-python PYTHON]

REPOSITORY is a git directory with a long history, of which the first `--limit` commits are taken.
Measured in one run: `git log --numstat` alone, before and after the rest; a whole collection by
`manage.py collect`, into SQLite and, with DATABASE_URL set, into PostgreSQL; PyDriller and Perceval
where PYTHON has them. What is stored must equal `git log --numstat` commit for commit. Memory must
not grow with the history, so a fifth of it is collected first and both peaks are shown.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from benchmarks.collection_log import git, lines_by_git, part_of, raw_seconds
from benchmarks.site import ROOT, Site, a_site


class Peak:
    """The largest memory of a process, and of the git processes below it."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self.own = self.below = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._done.wait(0.05):
            try:
                self.own = max(self.own, self._process.memory_info().rss / 2**20)
                children = self._process.children(recursive=True)
                self.below = max(self.below, sum(_private(each) for each in children))
            except psutil.Error:
                pass

    def stop(self) -> None:
        self._done.set()
        self._thread.join()


def _private(process: psutil.Process) -> float:
    """Without the pages of the repository's own files, which the system gives and takes back."""
    memory = process.memory_info()
    return float(memory.rss - memory.shared) / 2**20


def side(site: Site, what: str, path: Path) -> dict[str, Any]:
    code = f"from benchmarks.collection_side import say; say({what!r}, {str(path)!r})"
    answer: dict[str, Any] = json.loads(site.manage("shell", "--verbosity", "0", "-c", code).stdout)
    return answer


def collect(mode: str, path: Path) -> None:
    os.environ["GLOSSARY_GIT_ROOTS"] = str(path.parent)
    with a_site(mode) as site:
        fetched = side(site, "add", path)["seconds"]
        process = subprocess.Popen(
            [sys.executable, "manage.py", "collect", "--here", "--format", "json"],
            env=site.environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        peak = Peak(process.pid)
        output, _ = process.communicate()
        peak.stop()
        told = json.loads(output)
        seconds = (
            datetime.fromisoformat(told["completed_at"])
            - datetime.fromisoformat(told["started_at"])
        ).total_seconds()
        equal = side(site, "compare", path)
        name = "SQLite" if mode == "embedded" else "PostgreSQL"
        wrong = equal["different"] + equal["too_many"]
        row(
            f"this site, {name}",
            equal["stored"],
            seconds,
            f"{peak.own:.0f} MB and {peak.below:.0f} MB in git; {wrong} of {equal['true']} "
            f"commits differ from git log; fetched before in {fetched:.1f} s",
        )


def others(python: str, path: Path) -> None:
    for name in ("pydriller", "perceval"):
        with tempfile.TemporaryDirectory(prefix="glossary-bench-") as folder:
            done = subprocess.run(
                [python, "-m", "benchmarks.collection_peers", name, str(path), folder],
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
        if done.returncode:
            print(f"| {name} | | | not measured: {(done.stderr.splitlines() or ['?'])[-1]} |")
            continue
        told = json.loads(done.stdout)
        lines = f"+{told['additions']} −{told['deletions']} lines, stores nothing"
        row(name, told["commits"], told["seconds"], lines)


def raw(path: Path, when: str) -> None:
    count = int(git(path, "rev-list", "--count", "main"))
    row(f"git log --numstat, {when}", count, raw_seconds(path), "")


def row(what: str, count: int, seconds: float, remark: str) -> None:
    print(f"| {what} | {count} | {count / seconds:.0f} ({seconds:.1f} s) | {remark} |")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=Path, required=True)
    parser.add_argument("--branch", default="HEAD")
    parser.add_argument("--limit", type=int, default=20_000)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    modes = ["embedded"] + (["scaled"] if os.environ.get("DATABASE_URL") else [])
    with tempfile.TemporaryDirectory(prefix="glossary-bench-") as directory:
        folder = Path(directory)
        part = part_of(options.source, options.branch, options.limit // 5, folder)
        whole = part_of(options.source, options.branch, options.limit, folder)
        lines = lines_by_git(whole).values()  # and the files are in memory now
        added, deleted = (sum(counts) for counts in zip(*lines, strict=True))
        print(f"{len(lines)} commits, +{added} −{deleted} lines, on {os.cpu_count()} cores\n")
        print("| | commits | commits/s | |\n|---|---|---|---|")
        collect("embedded", part)
        raw(whole, "before")
        for mode in modes:
            collect(mode, whole)
        raw(whole, "between")
        if not options.no_peers:
            others(options.peer_python, whole)
            raw(whole, "after")


if __name__ == "__main__":
    main()
