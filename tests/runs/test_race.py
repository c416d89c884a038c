import subprocess
import sys

import pytest

from glossary_site.env import ROOT
from tests.site.running import migrated_site

pytestmark = [pytest.mark.xdist_group("jobs"), pytest.mark.races, pytest.mark.timeout(300)]

ROUNDS = 1000


def test_a_thousand_cancellations_at_random_instants(tmp_path):
    """Never a cancelled run that is completed, nor the other way round; and both do happen."""
    with migrated_site(tmp_path / "data") as site:
        race = subprocess.run(
            [sys.executable, "-m", "tests.runs.racing", str(ROUNDS), "7"],
            env=site.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert race.returncode == 0, race.stderr
    completed, cancelled = map(int, race.stdout.split())
    assert completed + cancelled == ROUNDS
    assert min(completed, cancelled) > ROUNDS // 20
