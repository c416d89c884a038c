"""A run in real processes that are killed in the middle."""

import json
import subprocess
import sys

import pytest

from glossary_site.env import ROOT
from tests.site.running import migrated_site

pytestmark = [pytest.mark.xdist_group("jobs"), pytest.mark.races, pytest.mark.timeout(300)]


def test_the_same_glossary_comes_out_and_nothing_is_paid_twice(tmp_path):
    with migrated_site(tmp_path / "data", DJANGO_SETTINGS_MODULE="tests.work.settings") as site:
        crashing = subprocess.run(
            [sys.executable, "-m", "tests.runs.crashing", "6", "3", "60"],
            env=site.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert crashing.returncode == 0, crashing.stderr
    told = json.loads(crashing.stdout)
    # On a quick machine the run is done before the sixth.
    assert sum(told["kills"].values()) >= 3
    assert told["questions"] >= 60
