"""Real workers on a site of their own: a commit wakes them, and a kill loses nothing."""

import json
import signal

import psutil
import pytest

from tests.jobs.test_traps import QUICK, start_worker
from tests.site.running import Running, Site, migrated_site, wait_for

pytestmark = [pytest.mark.xdist_group("processes"), pytest.mark.races]

STORE = """
from projects.access import OPERATOR
from projects.choices import Source
from projects.models import Project
from projects.services.documents import store_document
from projects.services.projects import create_project
project = Project.objects.first() or create_project(actor=OPERATOR, name="Harbour")
for n in range({count}):
    store_document(
        project=project,
        path=f"{{n}}.md",
        content=f"# Berth {{n}}\\n\\n" + "Ships of version {version} lie here. " * {length},
        source=Source.API,
        actor=OPERATOR,
    )
"""
STATES = """
import json
from django.db.models import F
from indexing.models import IndexedDocument, IndexRequest, Section
fresh = IndexedDocument.objects.filter(document_hash=F("document__file_hash"))
print(json.dumps({
    "open": IndexRequest.objects.open().count(),
    "failed": IndexRequest.objects.filter(status="failed").count(),
    "fresh": fresh.count(),
    "stray": Section.objects.exclude(document_hash=F("document__file_hash")).count(),
}))
"""


@pytest.fixture
def site(tmp_path):
    with migrated_site(tmp_path / "data", **QUICK) as site:
        yield site


def states(site: Site) -> dict[str, int]:
    return json.loads(site.ask(STATES))


def store(site: Site, *, version: int, count: int = 20, length: int = 300) -> None:
    site.ask(STORE.format(count=count, version=version, length=length))


def settled(site: Site) -> bool:
    return states(site)["open"] == 0


def short_lane(worker: Running) -> list[psutil.Process]:
    return [process for process in worker.descendants() if "short" in process.name()]


def test_a_commit_wakes_a_worker_and_kills_lose_nothing(site: Site):
    worker = start_worker(site)
    for version in range(1, 5):
        store(site, version=version)
        # The cluster itself, then one of its workers, whichever is there.
        processes = wait_for("the short lane is there", lambda: short_lane(worker))
        processes[-1 if version % 2 else 0].send_signal(signal.SIGKILL)

    wait_for("everything is indexed", lambda: settled(site))

    assert states(site) == {"open": 0, "failed": 0, "fresh": 20, "stray": 0}
