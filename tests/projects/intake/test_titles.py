import time

import pytest

from projects.intake.titles import title_of


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# Plain\n\ntext", "Plain"),
        ("   ### Indented ###\n", "Indented"),
        ("Underlined\n=====\n", "Underlined"),
        ("Two\nlines\n---\n", "Two lines"),
        ("# `code`, **bold**, [link](x) and ![picture](y)\n", "code, bold, link and picture"),
        ("# A &amp; B \\* C <br>\n", "A & B * C"),
        ("text first\n\n## 用語集\n", "用語集"),
        ("# 算出プロパティ {#computed-property}\n", "算出プロパティ"),
        ("# Quays { #quays .wide }\n", "Quays"),
        ("# Set {a, b} {\n", "Set {a, b} {"),
        ("# Set {a, b}\n", "Set {a, b}"),
        ("```\n# a comment\n```\n\n# Real\n", "Real"),
        ("~~~sh\n# never closed\n", "file"),
        ("    # code\n\nText\n", "file"),
        ("#hashtag\n\n#5 bolt\n", "file"),
        ("> # quoted\n\n# Real\n", "Real"),
        ("# \n\n## Second\n", "Second"),
        ("---\ntitle: From the front\n---\n# Heading\n", "From the front"),
        ('---\nTitle: "It\'s: \\"quoted\\""\n---\n', 'It\'s: "quoted"'),
        ("---\ntitle: 'It''s'  \n---\n", "It's"),
        ("---\n# comment\nlang: ja\ntitle: 用語 # note\n...\n", "用語"),
        ("---\ntitle: >-\n  a long\n  title\nx: 1\n---\n", "a long title"),
        ('+++\ntitle = "Toml"\n+++\n', "Toml"),
        ("---\nlang: ja\n---\n\n# Heading\n", "Heading"),
        ("---\n\n# Below a rule\n\n---\n", "Below a rule"),
        ("no heading at all", "file"),
        ("", "file"),
    ],
)
def test_title(content, title):
    assert title_of(content, "folder/file.md") == title


def test_the_first_heading_may_come_late():
    assert title_of("word word word\n\n" * 2000 + "# Late\n", "x.md") == "Late"


def test_titles_are_bounded():
    assert title_of("# " + "長" * 500, "x.md") == "長" * 200
    assert title_of("", "a" * 250 + ".md") == "a" * 200


@pytest.mark.parametrize("piece", [">", "- ", "# [", "[a]: <b\n", "> > a\n", "*a **b "])
def test_hostile_markup_takes_no_time(piece):
    start = time.monotonic()
    title_of(piece * (200_000 // len(piece)), "x.md")
    assert time.monotonic() - start < 4


def test_a_long_gap_in_a_declared_title_takes_no_time():
    start = time.thread_time()
    assert title_of(f"---\ntitle: a{' ' * 32_000}b # c\n---\n", "x.md")[0] == "a"
    assert time.thread_time() - start < 1
