"""How a command starts: without what it does not need, and with a sentence where it cannot."""

import subprocess
import sys

import pytest
from django.core import checks
from django.urls import get_resolver

from glossary_site.env import ROOT
from tests.site.running import Site

# Each takes a good part of what a short command takes in all.
HEAVY = {"daphne", "jsonschema", "numpy", "openai", "psycopg", "redis", "twisted"}
LOADED = "import django, sys; django.setup(); print(*sys.modules)"


def test_what_takes_long_to_load_is_not_loaded_by_every_command(tmp_path):
    site = Site(tmp_path)
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED],
        env=site.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = set(loaded.stdout.split())
    assert "django" in names
    assert {name.partition(".")[0] for name in names} & HEAVY == set()
    assert "runs.engine.terms" not in names


INTERRUPTED = """
import django.core.management
import manage
def loading(arguments):
    raise KeyboardInterrupt
django.core.management.execute_from_command_line = loading
manage.main()
"""


def test_ctrl_c_while_it_loads_is_no_failure_of_the_program():
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "")


@pytest.mark.parametrize("command", [["jobs", "list"], ["searchdocs", "tide", "--project", "1"]])
def test_without_a_site_there_is_a_sentence(tmp_path, command):
    refused = Site(tmp_path / "nowhere").command(*command)
    assert refused.returncode == 1
    assert refused.stderr.startswith("CommandError: There is no site here yet")
    assert len(refused.stderr.splitlines()) == 1


def test_a_database_of_an_older_site_is_told_apart(tmp_path):
    refused = Site(tmp_path).command("jobs", "list")
    assert refused.returncode == 1
    assert "run “manage.py migrate” first" in refused.stderr


def test_the_admin_passes_the_checks_of_django():
    """They see what is registered, and that is done by the addresses."""
    assert get_resolver().url_patterns
    assert checks.run_checks(tags=[checks.Tags.admin]) == []
