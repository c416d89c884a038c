"""Nested `.gitignore` files mean to us what they mean to git."""

import random
import shutil
import subprocess

import pytest

from projects.intake.ignoring import Ignoring, ignore_lines
from projects.services.imports import files_below

PATTERNS = [
    *("*.md", "!*.md", "a.md", "!a.md", "/a.md", "!/a.md", "b/", "!b/", "/b/", "b/a.md", "!b/a.md"),
    *("**/b", "b/**", "!b/**", "a*", "!c.md", "c", "/b/c.md", "# a comment", "", "[ab].md", "b/*"),
]


def test_a_line_that_means_nothing_costs_only_itself():
    rules = Ignoring().entering("", ["!", "[z-a]", "\\", "a.md"])
    assert rules.names("a.md")
    assert not rules.names("b.md")


def test_a_link_and_a_pipe_are_no_rules(tmp_path):
    (tmp_path / "rules").write_text("a.md\n")
    (tmp_path / ".gitignore").symlink_to("rules")
    assert ignore_lines(tmp_path) == []


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_as_git_does(tmp_path):
    folders = ("", "b/", "b/b/", "c/", "c/b/")
    names = [f"{folder}{name}.md" for folder in folders for name in "abc"]
    chance = random.Random(4)
    for number in range(25):
        top = tmp_path / str(number)
        for name in names:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text("# Text\n")
        for folder in chance.sample(folders, 3):
            lines = chance.sample(PATTERNS, chance.randint(1, 5))
            (top / folder / ".gitignore").write_text("\n".join(lines) + "\n")
        git = ["git", "-c", "core.excludesFile=/dev/null", "ls-files", "--others"]
        subprocess.run(["git", "init", "-q"], cwd=top, check=True)
        listed = subprocess.run(
            [*git, "--exclude-per-directory=.gitignore"],
            cwd=top,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        ours = [incoming.path for incoming in files_below(top, lambda rejected: None)]
        assert sorted(ours) == sorted(set(listed) & set(names)), {
            str(path.relative_to(top)): path.read_text().split("\n")
            for path in top.rglob(".gitignore")
        }
