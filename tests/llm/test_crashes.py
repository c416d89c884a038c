"""Real processes, killed in the middle; and a real worker from the first request to the last."""

import json
import subprocess
import sys
import time
from uuid import uuid4

import pytest

from glossary_site.env import ROOT
from tests.llm_server import server_process
from tests.site.running import PATIENCE, migrated_site, wait_for

pytestmark = [pytest.mark.xdist_group("jobs"), pytest.mark.races, pytest.mark.timeout(300)]

SETTINGS = "tests.work.settings"
LOOK = """
import json
from glossary_site.llm.models import LLMJob, LLMProcess
process = LLMProcess.objects.get(pk="{process_id}")
print(json.dumps(process.facts() | {{"rows": LLMJob.objects.count()}}))
"""


@pytest.mark.parametrize(("strategy", "seed"), [("sync", 4), ("batch", 7)])
def test_a_kill_at_any_instant_loses_nothing_and_pays_nothing_twice(tmp_path, strategy, seed):
    with migrated_site(tmp_path / "data", DJANGO_SETTINGS_MODULE=SETTINGS) as site:
        crashing = subprocess.run(
            [sys.executable, "-m", "tests.llm.crashing", strategy, "5", str(seed)],
            env=site.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert crashing.returncode == 0, crashing.stderr
    assert int(crashing.stdout.split()[0]) >= 4


@pytest.fixture
def peer(tmp_path):
    with server_process(ledger=tmp_path / "ledger.sqlite3") as server:
        yield server


@pytest.fixture
def site(tmp_path, peer):
    variables = {
        "DJANGO_SETTINGS_MODULE": SETTINGS,
        "GLOSSARY_LLM_BASE_URL": peer.base_url,
        "GLOSSARY_LLM_MODEL": "peer-small",
        "GLOSSARY_LLM_CONCURRENCY": "4",
        "GLOSSARY_LLM_BATCH_POLL_SECONDS": "0.2",
        # Tasks are signed with it: all processes must have the same.
        "GLOSSARY_SECRET_KEY": "tests",
        "GLOSSARY_WORKERS": "1",
        "GLOSSARY_LONG_WORKERS": "1",
    }
    with migrated_site(tmp_path / "data", **variables) as site:
        yield site


def enqueue(site, count: int, **options) -> str:
    process_id = str(uuid4())
    asked = [
        {
            "key": str(n),
            "messages": [{"role": "user", "content": f"question {n}"}],
            "reuse": False,
        }
        for n in range(count)
    ]
    site.ask(
        "from uuid import UUID\n"
        "from glossary_site.llm.services import queue\n"
        f"queue.enqueue(UUID({process_id!r}), {asked!r}, **{options!r})"
    )
    return process_id


def look(site, process_id: str) -> dict:
    return json.loads(site.ask(LOOK.format(process_id=process_id)))


def test_a_worker_does_both_strategies_and_stops_within_two_seconds(site, peer, tmp_path):
    """In one test: starting a worker takes longer than all of this."""
    site.start("worker")
    notes = tmp_path / "notes"
    then = ("work.note", {"path": str(notes), "line": "answered"})
    for strategy in ("sync", "batch"):
        peer.configure(batch_seconds=0.3)
        process_id = enqueue(site, 12, strategy=strategy, then=then)
        facts = wait_for(f"{strategy} has ended", lambda of=process_id: _ended(look(site, of)))
        assert (facts["status"], facts["done"], facts["failed"]) == ("COMPLETED", 12, 0)
    wait_for("what follows was done", lambda: notes.exists() and len(notes.read_text()) > 15)
    assert notes.read_text() == "answered\n" * 2
    assert len(peer.requests) == 24

    peer.faults.add("hold")
    process_id = enqueue(site, 12)
    peer.ledger.wait_for(28, timeout=PATIENCE)
    site.ask(
        f"from glossary_site.llm.services import queue\nqueue.cancel({process_id!r}, actor='tests')"
    )

    cancelled = time.time()

    def aborted() -> list:
        calls = [entry for entry in peer.requests if entry.outcome == "abandoned"]
        return calls if len(calls) == 4 else []

    calls = wait_for("the calls are aborted", aborted)
    assert max(call.ended_at for call in calls) - cancelled < 2
    facts = look(site, process_id)
    assert (facts["status"], facts["failed"]) == ("CANCELLED", 12)


def _ended(facts: dict) -> dict | None:
    return facts if facts["status"] in ("COMPLETED", "FAILED", "CANCELLED") else None
