"""Patterns for paths: whatever somebody writes, it takes no time."""

import random
import time

import pytest
from pathspec import GitIgnoreSpec

from indexing.paths import matching_paths
from projects.intake.globs import spec_of

LONG_NAME = "a" * 250


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 20 + "b", f"{LONG_NAME}.md"),
        ("?*" * 100 + "b", f"{LONG_NAME}.md"),
        ("[(?:]*" * 50 + "b", "(" * 250),
        ("**/a/" * 100 + "b", "a/" * 450 + "c.md"),
        ("**/*a*a/" * 50 + "b", "aaa/" * 240 + "c.md"),
    ],
)
def test_a_pattern_full_of_stars_is_answered_at_once(pattern, path):
    """By trying each length of each star, this takes longer than anybody lives."""
    began = time.monotonic()
    assert matching_paths([path], include=[pattern]) == set()
    assert time.monotonic() - began < 1


def test_patterns_match_what_they_always_matched():
    """As the library has it, for patterns and paths of all kinds. (Not those with a class such as
    [!a], which it takes to match a slash, too; git does not.)"""
    chance = random.Random(4)
    pieces = ["a", "b", "*", "*", "**", "/", "/**/", "?", "[ab]", "**/", ".", "\\*"]
    for _ in range(2000):
        pattern = "".join(chance.choices(pieces, k=chance.randrange(1, 9)))
        try:
            plain = GitIgnoreSpec.from_lines([pattern])
        except ValueError:
            with pytest.raises(ValueError, match=r"nvalid|normalized"):
                spec_of([pattern])
            continue
        folders = ["".join(chance.choices("ab.", k=chance.randrange(1, 5))) for _ in range(5)]
        path = "/".join(folders[: chance.randrange(1, 6)])
        assert spec_of([pattern]).match_file(path) == plain.match_file(path), (pattern, path)
