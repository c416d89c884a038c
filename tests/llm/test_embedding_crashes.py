import subprocess
import sys

import pytest

from glossary_site.env import ROOT
from tests.site.running import PATIENCE, migrated_site

pytestmark = [pytest.mark.xdist_group("jobs"), pytest.mark.races]


def test_a_kill_at_any_instant_pays_for_nothing_twice_and_keeps_nothing_back(tmp_path):
    with migrated_site(tmp_path / "data", DJANGO_SETTINGS_MODULE="tests.work.settings") as site:
        crashing = subprocess.run(
            [sys.executable, "-m", "tests.llm.crashing_embeddings", "6", "11"],
            env=site.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert crashing.returncode == 0, crashing.stderr
    assert int(crashing.stdout.split()[0]) >= 4
