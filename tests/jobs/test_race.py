"""Real processes on the real database, all at once."""

import subprocess
import sys

import pytest

from glossary_site.env import ROOT
from tests.site.running import PATIENCE, migrated_site

pytestmark = [pytest.mark.xdist_group("jobs"), pytest.mark.races]

RACERS = 200


def test_two_hundred_processes_start_one_job(tmp_path):
    notes = tmp_path / "notes"
    settings = "tests.work.settings"
    with migrated_site(tmp_path / "data", DJANGO_SETTINGS_MODULE=settings) as site:
        race = subprocess.run(
            [sys.executable, "-m", "tests.jobs.racing", str(RACERS), str(notes)],
            env=site.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert race.returncode == 0, race.stderr
        rows = site.ask(
            "from glossary_site.jobs.models import JobRun\n"
            "print(list(JobRun.objects.values_list('state', 'attempt')))"
        )
    assert rows == "[('SUCCEEDED', 1)]"
    assert notes.read_text() == "once\n"
