import base64
import gzip
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from indexing.sections.limits import Limits, limits
from indexing.sections.tokens import ENCODING, LONGEST_TOKEN, PACKAGE, count_tokens, count_within


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
    ],
)
def test_tokens_are_those_of_the_vocabulary(text, tokens):
    assert count_tokens(text) == tokens
    assert count_within(text, 100) == tokens


def test_marks_with_a_meaning_elsewhere_are_text_here():
    assert count_tokens("<|endoftext|>") > 1


def test_more_than_the_limit():
    text = "one two three four"
    assert count_within(text, count_tokens(text)) == count_tokens(text)
    assert count_within(text, count_tokens(text) - 1) is None
    assert count_within(" " * (LONGEST_TOKEN * 3 + 1), 3) is None


def test_no_token_is_longer_than_said():
    package = find_spec(PACKAGE)
    assert package
    assert package.origin
    vocabulary = Path(package.origin).parent / "data" / f"{ENCODING}.tiktoken.gz"
    with gzip.open(vocabulary) as lines:
        assert max(len(base64.b64decode(line.split()[0])) for line in lines) == LONGEST_TOKEN


@pytest.mark.parametrize("text", ["A", " ", "あ", "ab+/9", "👍"])
def test_a_huge_text_does_not_take_for_ever(text):
    started = time.thread_time()
    assert count_tokens(text * 500_000) > 1000
    assert time.thread_time() - started < 5


def test_limits_come_from_the_settings(settings):
    settings.SECTION_MAX_TOKENS = 300
    settings.SECTION_OVERLAP_TOKENS = 40
    settings.SECTION_MIN_TOKENS = 20
    assert limits() == Limits(max_tokens=300, overlap_tokens=40, min_tokens=20)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ((10, 0, 0), "max_tokens"),
        ((100, 51, 0), "overlap_tokens"),
        ((100, -1, 0), "overlap_tokens"),
        ((100, 0, 51), "min_tokens"),
    ],
)
def test_limits_that_contradict_each_other_are_named(values, name):
    with pytest.raises(ValueError, match=name):
        Limits(*values)
