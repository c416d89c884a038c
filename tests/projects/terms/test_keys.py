import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.terms.keys import LONGEST, key_of

SAME = [
    ("e-mail", "email", "E-mail", "E-Mails", "e mail", "Ｅ－ｍａｉｌ"),
    ("file name", "filename", "file-name", "File Names", "file_name"),
    ("サーバ", "サーバー", "ｻｰﾊﾞｰ", "ｻｰﾊﾞ"),
    ("ユーザインタフェース", "ユーザー インターフェイス", "ユーザー・インターフェース"),
    ("サーバー室", "サーバ室"),
    ("シーケンサ", "シーケンサー"),
    ("ヴァイオリン", "バイオリン"),
    ("VM", "VMs"),
    ("API", "APIs", "api"),
    ("cache", "caches", "Cache"),
    ("policy", "policies"),
    ("cookie", "cookies"),
    ("status", "statuses", "Status"),
    ("address", "addresses"),
    ("database", "databases", "data base"),
    ("index", "indexes", "indices"),
    ("analysis", "analyses"),
    ("initialisation", "initialization"),
    ("U.S.", "US", "U.S"),
    ("node", "Node's", "「node」", "nodes,"),
    ("soft\u00adware", "software", "soft\u200bware"),
]
APART = [
    ("C", "C++"),
    ("C", "C#"),
    (".NET", "net"),
    ("キー", "キ"),
    ("ビール", "ビル"),
    ("new", "news"),
    ("class", "cla"),
    ("DNS", "DN"),
    ("HTTPS", "HTTP"),
    ("TCP/IP", "TCP"),
    ("node 1", "node 2"),
    ("組合", "組み合わせ"),
]
TEXTS = st.text(
    alphabet=st.sampled_from(
        string.ascii_letters
        + string.digits
        + " -_.'/+#()・ーサバヴァィウフェイスキ漢字かな。「」ｻﾞﾊﾟＡß\u3000\u200b"
    )
)


@pytest.mark.parametrize("spellings", SAME, ids=lambda spellings: spellings[0])
def test_spellings_of_one_term_have_one_key(spellings: tuple[str, ...]) -> None:
    assert len({key_of(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_terms_have_two_keys(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)


def test_nothing_has_no_key() -> None:
    assert key_of(" \n\u3000") == ""


def test_long_ones_that_begin_alike_are_two() -> None:
    one, other = key_of("x" * 500 + "a"), key_of("x" * 500 + "b")

    assert one != other
    assert max(len(one), len(other)) <= LONGEST


@settings(max_examples=300, deadline=None)
@given(TEXTS | st.text())
def test_a_key_is_its_own_key(text: str) -> None:
    key = key_of(text)

    assert key_of(key) == key
    assert len(key) <= LONGEST


@settings(max_examples=200, deadline=None)
@given(TEXTS.filter(lambda text: any(letter.isalnum() for letter in text)))
def test_what_has_letters_has_a_key(text: str) -> None:
    assert key_of(text)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(string.ascii_lowercase, min_size=1), min_size=1, max_size=4))
def test_case_and_joints_say_nothing(words: list[str]) -> None:
    joined = {key_of(joint.join(words)) for joint in (" ", "-", "_", "  ")}

    assert len(joined) == 1
    assert key_of(" ".join(words).title()) in joined
