"""A collection in real processes that are killed in the middle."""

import subprocess
import sys

import pytest

from glossary_site.env import ROOT
from tests.site.running import migrated_site

pytestmark = [pytest.mark.xdist_group("jobs"), pytest.mark.races, pytest.mark.timeout(300)]


def test_nothing_is_collected_twice_and_nothing_missed(tmp_path):
    with migrated_site(tmp_path / "data", DJANGO_SETTINGS_MODULE="tests.work.settings") as site:
        crashing = subprocess.run(
            [sys.executable, "-m", "tests.collection.crashing", "5", "3"],
            env=site.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert crashing.returncode == 0, crashing.stderr
    kills, targets, commits = map(int, crashing.stdout.split())
    assert kills >= 3
    assert targets >= 12
    assert commits > 2000
