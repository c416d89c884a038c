"""Importing many Markdown files: files a second and peak memory, by command and by REST.

    python -m benchmarks.documents [--files 5000] [--from DIR]

Without `--from` the files are made here: real-looking Markdown of varying size, half of it
Japanese. With it, every .md, .txt and .html below DIR is used, such as an installed manual. Runs
embedded, and with DATABASE_URL and REDIS_URL set also scaled. Memory must not grow with the number
of files, so a fifth of the files is imported first and both peaks are shown.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from pathlib import Path

import psutil

from benchmarks.site import ROOT, Site, a_site

WORDS = "harbour tide turbine feeder watch reserve current slack island".split()  # noqa: SIM905
KOTOBA = "潮流 憩流 当直 水圧鉄管 蓄電池 系統 点検 手順 連系 予備".split()  # noqa: SIM905
BATCH_FILES = 100


def make_files(directory: Path, count: int) -> None:
    chance = random.Random(7)
    for n in range(count):
        japanese = n % 2
        words = KOTOBA if japanese else WORDS
        joint = "" if japanese else " "
        parts = [f"# Document {n}\n"]
        for section in range(chance.randint(2, 9)):
            parts.append(f"\n## Section {section}\n")
            for _ in range(chance.randint(1, 5)):
                sentence = joint.join(chance.choices(words, k=chance.randint(20, 120)))
                parts.append(f"\n{sentence}{'。' if japanese else '.'}\n")
        path = directory / f"part{n % 50:02}" / f"document{n:05}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(parts))


def choose(source: Path, count: int) -> list[Path]:
    wanted = {".md", ".txt", ".html", ".markdown"}
    files = [p for p in sorted(source.rglob("*")) if p.suffix in wanted and p.is_file()]
    return files[:count]


def by_command(site: Site, directory: Path, name: str) -> tuple[float, float, str]:
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "importdocs", name, str(directory), "--create"],
        env=site.environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    peak = Peak(process.pid)
    output, _ = process.communicate()
    return time.monotonic() - start, peak.stop(), output.strip().splitlines()[-1]


class Peak:
    """The largest memory of a process and its children, looked at ten times a second."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._largest = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            try:
                family = [self._process, *self._process.children(recursive=True)]
                self._largest = max(self._largest, sum(p.memory_info().rss for p in family))
            except psutil.Error:
                pass

    def stop(self) -> float:
        self._done.set()
        self._thread.join()
        return self._largest / 2**20


def by_rest(site: Site, directory: Path, files: list[Path]) -> tuple[float, float, str]:
    assert site.web is not None
    start = time.monotonic()
    peak = Peak(site.web.pid)
    totals = dict.fromkeys(("created", "updated", "unchanged", "refused"), 0)
    for first in range(0, len(files), BATCH_FILES):
        answer = upload(site, directory, files[first : first + BATCH_FILES])
        for key in totals:
            totals[key] += answer[key]
    seconds = time.monotonic() - start
    return seconds, peak.stop(), ", ".join(f"{n} {key}" for key, n in totals.items())


def upload(site: Site, directory: Path, files: list[Path]) -> dict:
    boundary = uuid.uuid4().hex
    body = bytearray()
    for path in files:
        body += (
            f'--{boundary}\r\nContent-Disposition: form-data; name="files"; '
            f'filename="{path.name}"\r\nContent-Type: text/markdown\r\n\r\n'
        ).encode()
        body += path.read_bytes() + b"\r\n"
    for path in files:
        name = path.relative_to(directory)
        body += (
            f'--{boundary}\r\nContent-Disposition: form-data; name="paths"\r\n\r\n{name}\r\n'
        ).encode()
    body += f"--{boundary}--\r\n".encode()
    request = urllib.request.Request(
        f"{site.url}/api/projects/{site.project_id}/documents",
        data=bytes(body),
        headers={
            "Authorization": f"Bearer {site.token}",
            "Content-Type": f"multipart/form-data; boundary={boundary}",
        },
    )
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)


def row(mode: str, what: str, count: int, result: tuple[float, float, str]) -> None:
    seconds, megabytes, summary = result
    print(f"| {mode} | {what} | {count} | {count / seconds:.0f} | {megabytes:.0f} | {summary} |")
    sys.stdout.flush()


def measure(mode: str, directory: Path, files: list[Path]) -> None:
    with a_site(mode) as site, tempfile.TemporaryDirectory() as part:
        few = files[: len(files) // 5]
        for path in few:
            link = Path(part) / path.relative_to(directory)
            link.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, link)
        row(mode, "importdocs", len(few), by_command(site, Path(part), "Few"))
        row(mode, "importdocs", len(files), by_command(site, directory, "Many"))
        row(mode, "importdocs again", len(files), by_command(site, directory, "Many"))
        site.start_web()
        row(mode, "REST", len(few), by_rest(site, directory, few))
        row(mode, "REST", len(files), by_rest(site, directory, files))
        row(mode, "REST again", len(files), by_rest(site, directory, files))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--from", dest="source", type=Path)
    arguments = parser.parse_args()
    modes = ["embedded"]
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        modes.append("scaled")
    with tempfile.TemporaryDirectory(prefix="glossary-files-") as made:
        directory = arguments.source or Path(made)
        if arguments.source is None:
            make_files(directory, arguments.files)
        files = choose(directory, arguments.files)
        megabytes = sum(path.stat().st_size for path in files) / 2**20
        print(f"{len(files)} files, {megabytes:.1f} MB\n")
        print("| mode | way | files | files/s | peak MB | outcome |\n|---|---|---|---|---|---|")
        for mode in modes:
            measure(mode, directory, files)


if __name__ == "__main__":
    main()
