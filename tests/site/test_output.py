"""What a command does when nobody takes what it says."""

import os
import subprocess
import sys

import pytest

from glossary_site.env import ROOT
from tests.observe.programs import environment

PROGRAM = """
import sys
import django
django.setup()
from glossary_site.management.base import SiteCommand

class Command(SiteCommand):
    def handle(self, *args, **options):
        out = getattr(self, sys.argv[1])
        for _ in range(int(sys.argv[2])):
            out.write("x" * 100)

Command().run_from_argv(["manage.py", "speak"])
"""
FEW, MANY = 1, 10_000


def speak(to: str, lines: int, descriptor: int, **variables: str) -> tuple[int, str]:
    """Its exit code, and what it says on the other stream."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, to, str(lines)],
        cwd=ROOT,
        env=environment(**variables),
        text=True,
        timeout=60,
        check=False,
        stdout=descriptor if to == "stdout" else subprocess.PIPE,
        stderr=descriptor if to == "stderr" else subprocess.PIPE,
    )
    return done.returncode, (done.stderr if to == "stdout" else done.stdout)


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("lines", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("to", ["stdout", "stderr"])
def test_it_ends_silently_when_the_reader_has_gone(to, lines, unbuffered):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert speak(to, lines, writing, PYTHONUNBUFFERED=unbuffered) == (141, "")
    finally:
        os.close(writing)


@pytest.mark.parametrize("lines", [FEW, MANY], ids=["few", "many"])
def test_a_sentence_where_nothing_can_be_written(tmp_path, lines):
    (tmp_path / "out").touch()
    only_to_read = os.open(tmp_path / "out", os.O_RDONLY)
    try:
        code, said = speak("stdout", lines, only_to_read)
    finally:
        os.close(only_to_read)
    assert code == 1
    assert said == "CommandError: The output cannot be written: Bad file descriptor\n"


@pytest.mark.parametrize("to", ["stdout", "stderr"])
def test_a_stream_that_is_closed_is_nobodys_wish_to_be_told(to):
    number = {"stdout": 1, "stderr": 2}[to]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {number}>&-', "sh", sys.executable, "-c", PROGRAM, to, str(FEW)],
        cwd=ROOT,
        env=environment(),
        text=True,
        timeout=60,
        check=False,
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
