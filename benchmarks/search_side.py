"""The processes of `benchmarks.search` that are ours alone, so that their memory is ours, too.

    index PROJECT DOCUMENTS SKIP COUNT   store documents and index them here
    first PROJECT QUERY MODE             the first search of a process, and the next
    start PROJECT COUNT                  store texts while a worker runs, and wait to find them

Each answers with a line of JSON.
"""

import gc
import itertools
import json
import os
import sys
import time

BEGAN = time.perf_counter()
import django  # noqa: E402

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
django.setup()

import psutil  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from indexing.choices import Mode  # noqa: E402
from indexing.models import IndexRequest, Section  # noqa: E402
from indexing.search.options import SearchOptions  # noqa: E402
from indexing.search.service import search  # noqa: E402
from indexing.services.drain import work_here  # noqa: E402
from projects.access import OPERATOR  # noqa: E402
from projects.choices import Source  # noqa: E402
from projects.intake.texts import draft_of  # noqa: E402
from projects.limits import limits  # noqa: E402
from projects.models import Project  # noqa: E402
from projects.services.documents import Stored, store_document, store_documents  # noqa: E402

READY = time.perf_counter()
PATIENCE = 30.0


def megabytes() -> float:
    return psutil.Process().memory_info().rss / 2**20


def status_megabytes(name: str) -> float:
    """VmHWM: the peak of this process (that of `getrusage` begins with the parent's). RssAnon: what
    is no file's; the dictionary of Japanese is one, and more of it is in use with more texts."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(name))


def size_on_disk() -> float:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return cursor.fetchone()[0] / 2**20


def index(project: Project, documents: str, skip: int, count: int) -> dict:
    # As the processes of a worker do: what is loaded is not looked through again and again.
    gc.freeze()
    began, processor = time.perf_counter(), time.process_time()
    with open(documents) as lines:
        drafts = (_draft(line) for line in itertools.islice(lines, skip, skip + count))
        for stored in store_documents(
            project=project, drafts=drafts, source=Source.API, actor=OPERATOR
        ):
            assert isinstance(stored, Stored), stored
    stored_at, stored_processor = time.perf_counter(), time.process_time()
    there = Section.objects.filter(project=project).count()
    tally = work_here(project=project, progress=lambda current, total: None)
    ended, ended_processor = time.perf_counter(), time.process_time()
    assert tally.completed == count, tally
    total = Section.objects.filter(project=project).count()
    return {
        "sections": total - there,
        "total": total,
        "store_seconds": stored_at - began,
        "store_processor": stored_processor - processor,
        "seconds": ended - stored_at,
        "processor": ended_processor - stored_processor,
        "peak": status_megabytes("VmHWM"),
        "own": status_megabytes("RssAnon"),
        "disk": size_on_disk(),
    }


def _draft(line: str):
    document = json.loads(line)
    return draft_of(path=document["path"], content=document["content"], limits=limits())


def first(project: Project, query: str, mode: str) -> dict:
    options = SearchOptions(query=query, project_ids=(project.pk,), mode=Mode(mode))
    times = []
    for _ in range(2):
        began = time.perf_counter()
        search(options)
        times.append(1000 * (time.perf_counter() - began))
    return {
        "setup": 1000 * (READY - BEGAN),
        "first": times[0],
        "next": times[1],
        "rss": megabytes(),
    }


def start(project: Project, count: int) -> dict:
    """Times from the commit of a text, in milliseconds."""
    begins, finds = [], []
    for n in range(count):
        word = f"lantern{os.getpid()}x{n}"
        committed: list[float] = []
        with transaction.atomic():
            # Before the one that wakes a worker.
            transaction.on_commit(lambda marks=committed: marks.append(time.time()))
            stored = store_document(
                project=project,
                path=f"started/{n % 10}.md",
                content=f"# {word}\n\nThe {word} is lit at dusk, and put out at daybreak.\n",
                source=Source.API,
                actor=OPERATOR,
            )
        options = SearchOptions(query=word, project_ids=(project.pk,), mode=Mode.LEXICAL)
        while not search(options).results:
            if time.time() > committed[0] + PATIENCE:
                raise SystemExit(f"Not found within {PATIENCE:g} s. Does a worker run?")
            time.sleep(0.002)
        finds.append(1000 * (time.time() - committed[0]))
        request = IndexRequest.objects.get(
            document_id=stored.document_id, document_version=stored.version
        )
        assert request.started_at is not None
        begins.append(1000 * (request.started_at.timestamp() - committed[0]))
        time.sleep(0.05)
    return {"begin": begins, "find": finds}


if __name__ == "__main__":
    name, project_id, *rest = sys.argv[1:]
    of = Project.objects.get(pk=int(project_id))
    if name == "index":
        answer = index(of, rest[0], int(rest[1]), int(rest[2]))
    elif name == "first":
        answer = first(of, rest[0], rest[1])
    else:
        answer = start(of, int(rest[0]))
    print(json.dumps(answer))
