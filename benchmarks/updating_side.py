"""The processes beside the worker in `benchmarks.updating`: a writer, a searcher, a last look."""

import json
import os
import signal
import sys
import time
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
import django

django.setup()

from indexing.choices import Mode  # noqa: E402
from indexing.models import IndexedDocument, Section  # noqa: E402
from indexing.search.options import SearchOptions  # noqa: E402
from indexing.search.service import search  # noqa: E402
from indexing.sections.limits import limits  # noqa: E402
from indexing.sections.split import split  # noqa: E402
from projects.access import OPERATOR  # noqa: E402
from projects.choices import Source  # noqa: E402
from projects.models import Document, Project  # noqa: E402
from projects.services.documents import store_document  # noqa: E402


def marker(number: int) -> str:
    """A word that only this document has, in letters: digits might be cut off."""
    return "zz" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


def text(number: int, version: int) -> str:
    """Each version has another number of sections, and each section names its document."""
    count = sections_of(version)
    parts = [f"# {marker(number)} document\n\nIt is version {version}, of {count} sections.\n"]
    parts += [
        f"\n## Part {n} {marker(number)}\n\n" + f"The tide of {version} rises in part {n}. " * 12
        for n in range(1, count)
    ]
    return "".join(parts)


def sections_of(version: int) -> int:
    return 2 + version % 7


def write(project_id: int, documents: int, updates: int, pause: float) -> None:
    project = Project.objects.get(pk=project_id)
    for n in range(updates):
        path = f"doc{n % documents:04}.md"
        there = Document.objects.filter(project=project, path=path).values_list("version").first()
        version = (there[0] if there else 0) + 1
        content = text(n % documents, version)
        store_document(
            project=project, path=path, content=content, source=Source.API, actor=OPERATOR
        )
        time.sleep(pause)


def look(project_id: int, documents: int, report: Path) -> None:
    """Search for one document after the other, by words and by both, until told to stop."""
    going_on = True

    def stop(*_: object) -> None:
        nonlocal going_on
        going_on = False

    signal.signal(signal.SIGTERM, stop)
    counts: dict[str, object] = {"searches": 0, "missing": 0, "mixed": 0}
    n = os.getpid()
    while going_on:
        n += 1
        number = n % documents
        mode = Mode.LEXICAL if n % 2 else Mode.HYBRID
        page = search(
            SearchOptions(query=marker(number), project_ids=(project_id,), mode=mode, limit=100)
        )
        mine = [r for r in page.results if r.document_path == f"doc{number:04}.md"]
        counts["searches"] += 1  # type: ignore[operator]
        if not mine:
            counts["missing"] += 1  # type: ignore[operator]
            counts.setdefault("first", f"{mode} found no {number}")
        elif len({r.document_hash for r in mine}) > 1:
            counts["mixed"] += 1  # type: ignore[operator]
            counts.setdefault("first", f"{mode} mixed {number}: {[r.heading for r in mine]}")
        elif mode is Mode.LEXICAL and len(mine) != _expected(mine):
            counts["mixed"] += 1  # type: ignore[operator]
            counts.setdefault("first", f"{len(mine)} sections of {number}: {mine}")
    first = counts.pop("first", "")
    if first:
        sys.stderr.write(f"{first}\n")
    report.write_text(json.dumps(counts))


def _expected(results: list) -> int:
    """How many sections the version that was found has, by its own words."""
    for result in results:
        if "sections" in result.snippet:
            return int(result.snippet.split(" sections")[0].split()[-1])
    return -1


def check(project_id: int) -> None:
    """Every section is what the stored text gives, in order, of the last version."""
    wrong = []
    sections = 0
    for document in Document.objects.filter(project_id=project_id):
        rows = list(
            Section.objects.of_document(document).values_list(
                "order", "heading", "content", "line_start", "line_end", "document_hash"
            )
        )
        sections += len(rows)
        pieces = [
            (p.order, p.heading, p.content, p.line_start, p.line_end, document.file_hash)
            for p in split(document.content, limits=limits())
        ]
        indexed = IndexedDocument.objects.get(document=document)
        if rows != pieces or indexed.document_version != document.version:
            wrong.append(document.path)
    print(f"{sections} sections right" if not wrong else f"{len(wrong)} documents wrong")
    if wrong:
        sys.exit(f"Wrong: {wrong[:5]}")


if __name__ == "__main__":
    name, project, *rest = sys.argv[1:]
    if name == "write":
        write(int(project), int(rest[0]), int(rest[1]), float(rest[2]))
    elif name == "search":
        look(int(project), int(rest[0]), Path(rest[1]))
    else:
        check(int(project))
