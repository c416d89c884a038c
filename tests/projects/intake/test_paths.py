import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.intake.errors import Refused
from projects.intake.paths import clean_path, displayable

GOOD = [
    ("intro.md", "intro.md"),
    ("chapter1/intro.md", "chapter1/intro.md"),
    ("chapter1\\intro.md", "chapter1/intro.md"),
    ("./a.md", "a.md"),
    ("././a//b/./c.md", "a/b/c.md"),
    ("a/b/", "a/b"),
    ("か\u3099.md", "が.md"),
    ("cafe\u0301.md", "café.md"),
    ("第一章/用語　集.md", "第一章/用語　集.md"),
    ("葛\U000e0100.md", "葛\U000e0100.md"),
    ("\u26a0\ufe0f notes.md", "\u26a0\ufe0f notes.md"),
    (".env.example", ".env.example"),
    ("console.md", "console.md"),
    ("common.txt", "common.txt"),
    ("..a/b..c.md", "..a/b..c.md"),
    ("keyboard.md", "keyboard.md"),
    ("environment.md", "environment.md"),
    ("What is this? 50%.md", "What is this? 50%.md"),
    ("a" * 255, "a" * 255),
]

BAD = [
    ("", "path_empty"),
    ("   ", "path_empty"),
    (".", "path_empty"),
    ("./.", "path_empty"),
    ("/etc/passwd", "path_absolute"),
    ("\\windows\\x.md", "path_absolute"),
    ("\\\\server\\share\\x.md", "path_absolute"),
    ("//server/x.md", "path_absolute"),
    ("C:\\x.md", "path_absolute"),
    ("c:x.md", "path_absolute"),
    ("./C:/x.md", "path_absolute"),
    (".\\.\\D:\\x.md", "path_absolute"),
    ("..", "path_parent"),
    ("../x.md", "path_parent"),
    ("a/../../x.md", "path_parent"),
    ("a\\..\\x.md", "path_parent"),
    ("a/..", "path_parent"),
    ("a\x00.md", "path_hidden_characters"),
    ("a\n.md", "path_hidden_characters"),
    ("a\x7f.md", "path_hidden_characters"),
    ("a\x85.md", "path_hidden_characters"),
    ("invoice\u202egpj.md", "path_hidden_characters"),
    ("a\u2066b\u2069.md", "path_hidden_characters"),
    ("a\u200b.md", "path_hidden_characters"),
    ("a\u200d.md", "path_hidden_characters"),
    ("a\ufeff.md", "path_hidden_characters"),
    ("a\u00ad.md", "path_hidden_characters"),
    ("a\u2028.md", "path_hidden_characters"),
    ("a\u3164.md", "path_hidden_characters"),
    ("a\ufe0f.md", "path_hidden_characters"),
    ("a\U000e0100.md", "path_hidden_characters"),
    ("a\U000e0041.md", "path_hidden_characters"),
    ("a\ud800.md", "path_hidden_characters"),
    ("a\uffff.md", "path_hidden_characters"),
    ("CON", "path_reserved_name"),
    ("nul.txt", "path_reserved_name"),
    ("a/Com1.tar.md", "path_reserved_name"),
    ("aux/x.md", "path_reserved_name"),
    ("lpt9 .md", "path_reserved_name"),
    ("COM¹.md", "path_reserved_name"),
    ("con:stream.md", "path_reserved_name"),
    ("a./x.md", "path_reserved_name"),
    ("x.md.", "path_reserved_name"),
    ("x.md ", "path_reserved_name"),
    ("x.md\u3000", "path_reserved_name"),
    ("...", "path_reserved_name"),
    ("a" * 256, "path_too_long"),
    ("あ" * 86, "path_too_long"),
    ("/".join(["folder"] * 150), "path_too_long"),
    ("/".join("𠮷" * 60 for _ in range(10)), "path_too_long"),
    (".env", "path_secret"),
    ("a/.ENV", "path_secret"),
    (".env.production", "path_secret"),
    ("server.PEM", "path_secret"),
    ("a.key", "path_secret"),
    ("a.p12", "path_secret"),
    ("a.pfx", "path_secret"),
    ("id_rsa", "path_secret"),
    ("id_rsa.pub", "path_secret"),
    ("id_ed25519_work", "path_secret"),
    (".netrc", "path_secret"),
    (".npmrc", "path_secret"),
    (".pypirc", "path_secret"),
    (".htpasswd", "path_secret"),
    ("credentials", "path_secret"),
    ("Credentials.json", "path_secret"),
    ("passwords.kdbx", "path_secret"),
    (".git/config", "path_secret"),
    ("a/.ssh/notes.md", "path_secret"),
    (".AWS/x.md", "path_secret"),
    (".gnupg/x.md", "path_secret"),
]


@pytest.mark.parametrize(("raw", "clean"), GOOD)
def test_good_paths_are_kept(raw, clean):
    assert clean_path(raw) == clean


@pytest.mark.parametrize(("raw", "code"), BAD)
def test_hostile_paths_are_refused_with_their_own_code(raw, code):
    with pytest.raises(Refused) as caught:
        clean_path(raw)
    assert caught.value.code == code
    assert caught.value.message
    # The sentence itself must not carry what it warns of.
    assert clean_path(f"x{caught.value.message[:50].strip(' ./')}")


def test_a_refusal_names_the_invisible_characters():
    with pytest.raises(Refused) as caught:
        clean_path("a\u202eb\u200bc\u200b.md")
    assert "U+202E, U+200B." in caught.value.message


def test_a_refused_path_is_shown_without_its_tricks():
    assert displayable("a\u202e\x00b\ud800.md") == "a<U+202E><U+0000>b<U+D800>.md"
    assert len(displayable("x" * 5000)) <= 1001


PIECES = st.one_of(
    st.text(max_size=8),
    st.text(
        alphabet=st.characters(categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn"]), max_size=3
    ),
    st.sampled_from(
        ["/", "\\", ".", "..", " ", ":", "C:", "CON", "nul", ".env", ".git", "a.md", "é"]
    ),
    st.sampled_from(
        ["\u212a", "\u202e", "\u200b", "か\u3099", "\u0301", "\ufe0f", "☁", "\U000e0100"]
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_a_clean_path_is_safe_and_stays_as_it_is(raw):
    displayable(raw).encode()
    try:
        path = clean_path(raw)
    except Refused:
        return
    assert clean_path(path) == path
    assert unicodedata.normalize("NFC", path) == path
    assert path.encode()
    assert len(path) <= 1000
    assert not path.startswith("/")
    assert "\\" not in path
    assert not re.match("[A-Za-z]:", path)
    for segment in path.split("/"):
        assert segment not in ("", ".", "..")
        assert not segment.endswith((" ", "."))
        assert len(segment.encode()) <= 255
        assert segment.partition(".")[0].casefold() not in ("con", "nul", "aux", "prn", "com1")
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in path)
    assert ".git" not in path.casefold().split("/")
    assert not path.casefold().endswith(("/.env", ".pem", ".key"))


def test_a_long_row_of_accents_takes_no_time():
    started = time.thread_time()
    with pytest.raises(Refused) as caught:
        clean_path("a" + "\u0301\u0316" * 40_000 + ".md")
    assert caught.value.code == "path_too_long"
    assert time.thread_time() - started < 1


def test_a_path_in_pieces_is_judged_as_it_will_be_stored():
    path = "/".join(["が" * 20] * 20) + ".md"
    assert clean_path(unicodedata.normalize("NFD", path)) == path
