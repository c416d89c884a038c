"""Runs with a real worker: stopped in the middle of a call, and parked while a batch is away."""

import time

import pytest

from tests.llm_server import server_process
from tests.site.running import PATIENCE, migrated_site, wait_for

pytestmark = [pytest.mark.xdist_group("jobs"), pytest.mark.races]

SETUP = """
from projects.access import OPERATOR
from projects.services.projects import create_project
from projects.services.terms import add_term
from tests.runs.working import make_harbour
project = create_project(actor=OPERATOR, name="Harbour")
make_harbour(project)
for name in ("berth", "pilot boat", "pilot station", "mooring line"):
    add_term(project=project, text=name, actor=OPERATOR)
"""
START = """
from tests.runs.working import start_run
from projects.models import Project
print(start_run(Project.objects.get(), "{scope}").pk)
"""
LOOK = """
from runs.models import Run
from glossary_site.jobs.models import JobRun
run = Run.objects.get(pk={run_id})
working = JobRun.objects.filter(state__in=["ASSIGNED", "RUNNING"]).count()
print(run.status, working, run.refined.count(), run.error_message)
"""
STOP = """
from projects.access import OPERATOR
from runs.models import Run
from runs.services.ending import cancel
cancel(Run.objects.get(pk={run_id}), actor=OPERATOR)
"""


@pytest.fixture
def peer(tmp_path):
    with server_process(ledger=tmp_path / "ledger.sqlite3", glossary=True) as server:
        yield server


@pytest.fixture
def site(tmp_path, peer):
    variables = {
        "DJANGO_SETTINGS_MODULE": "tests.work.settings",
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
        site.ask(SETUP)
        yield site


def look(site, run_id: str) -> list[str]:
    return site.ask(LOOK.format(run_id=run_id)).split(maxsplit=3)


def test_stopped_within_two_seconds_in_the_middle_of_a_call(site, peer):
    site.start("worker")
    peer.faults.add("hold")
    run_id = site.ask(START.format(scope="from_terms"))
    peer.ledger.wait_for(1, timeout=PATIENCE)
    stopped = time.time()
    site.ask(STOP.format(run_id=run_id))
    calls = wait_for(
        "the calls are aborted",
        lambda: [call for call in peer.requests if call.outcome == "abandoned"],
    )
    assert max(call.ended_at for call in calls) - stopped < 2
    assert look(site, run_id)[0] == "cancelled"

    peer.faults.clear()
    again = site.ask(START.format(scope="from_terms"))
    wait_for("the next run is complete", lambda: look(site, again)[0] == "completed")
    assert look(site, run_id)[0] == "cancelled"


def test_a_batch_holds_no_worker(site, peer):
    """The provider takes its time for each step; meanwhile nobody works for the run."""
    peer.configure(batch_seconds=1.0)
    site.environment["GLOSSARY_LLM_STRATEGY"] = "batch"
    site.start("worker")
    run_id = site.ask(START.format(scope="from_terms"))
    seen = []

    def ended():
        state = look(site, run_id)
        seen.append(state)
        return state if state[0] in ("completed", "failed") else None

    status, _, refined, *error = wait_for("the run has ended", ended)
    assert (status, refined) == ("completed", "4"), error
    assert ["running", "0", "0"] in [state[:3] for state in seen]
    assert len(peer.ledger.charged()) == len(peer.requests)
