import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.lexical.analysis import LONGEST_WORD, language_of, spans_of, words_of

ANYTHING = st.text(
    st.characters(codec=None)
    | st.sampled_from("のサーバー検索ｻﾞﾞ①㍿abcXY0.-_'’+# \n\u00ad\u200b\u0301")
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("検索エンジンの設定", "検索 エンジン の 設定"),
        ("サーバー ｻｰﾊﾞ サーバ", "サーバ サーバ サーバ"),
        ("キー コピー", "キー コピー"),
        ("Running studies", "run studi"),
        ("user's user’s", "user user"),
        ("ＡＢＣ", "abc"),
        ("snake_case", "snake_case snake case"),
        ("getUserName", "getusernam get user name"),
        ("parseHTTPRequest", "parsehttprequest pars http request"),
        ("URLs PDFs IPv4", "url pdf ipv4"),
        ("well-known", "well-known well known"),
        ("notes.txt", "notes.txt note txt"),
        ("v1.2.3", "v1.2.3 1.2.3"),
        ("3.14", "3.14"),
        ("2.0-rc1", "2.0-rc1 2.0 rc1"),
        ("C++ C++17 C#", "c++ c c++17 c++ c c# c"),
        ("C#の", "c# c の"),
        ("__init__ ____ _x_", "init x"),
        ("exam\u00adple zero\u200bwidth", "exampl zerowidth"),
        ("《検索》、（設定）。！？…・", "検索 設定"),
        ("😀検索🎉 ok 👨‍👩‍👧", "検索 ok"),
        ("https://example.com/a?b=1", "https example.com exampl com a b 1"),
        ("第3章", "第 3 章"),
        ("'s -- ''", "s"),
        ("русский язык", "русский язык"),
        ("\ud800 x\x00y", "x y"),
        ("", ""),
    ],
)
def test_words(text, words):
    assert words_of(text) == words.split()


@given(ANYTHING)
def test_any_text_gives_clean_words_and_the_same_with_their_places(text):
    words = words_of(text)
    for word in words:
        assert word
        assert not any(character.isspace() for character in word)
        assert '"' not in word
        assert len(word) <= LONGEST_WORD
        word.encode()
    spans = list(spans_of(text))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert [span.start for span in spans] == sorted(span.start for span in spans)


@given(st.text(st.sampled_from("のサーバー検索ｻﾞ①㍿abcXY0.-_'’+# \n\u00ad\u200b")))
def test_words_with_their_places_are_the_same_words(text):
    assert [word for span in spans_of(text) for word in span.words] == words_of(text)


@given(ANYTHING)
def test_what_is_passed_over_has_nothing_that_is_wanted(text):
    """Looking for it in the whole text at once finds what looking at each word finds."""
    wanted = re.compile("検|サ|x|b")
    spans = list(spans_of(text))
    close = [span for span in spans_of(text, wanted) if span.words]
    assert [span for span in spans if span in close] == close
    missed = [span for span in spans if span not in close]
    assert not any(wanted.search(word) for span in missed for word in span.words)


def test_a_query_finds_itself_in_any_surroundings():
    """A run is cut the same way wherever it stands."""
    for text in ("形態素解析", "getUserName", "C++", "notes.txt", "全文検索サーバー"):
        asked = words_of(text)
        for around in ("{}", "a {}, b", "これ、{}。", "「{}」", "\n{}\n", "({})"):
            stored = words_of(around.format(text))
            assert " ".join(asked) in " ".join(stored)


def test_texts_longer_than_sudachi_takes():
    text = "検索" * 40_000
    words = words_of(text)
    assert "".join(words) == text
    assert words_of("a" * 100_000) == ["a" * LONGEST_WORD]


def test_places_are_those_of_the_given_text():
    text = "ｻｰﾊﾞｰ と ㍿ と café"
    marked = {text[span.start : span.end]: span.words for span in spans_of(text)}
    assert marked["ｻｰﾊﾞｰ"] == ("サーバ",)
    assert marked["㍿"] == ("会社",)
    assert marked["café"] == ("café",)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("検索", "ja"),
        ("PostgreSQL の設定", "ja"),
        ("Vector検索", "ja"),
        ("search engine", "en"),
        ("The term 検索 means looking for something", "en"),
        ("café", "en"),
        ("", "en"),
        ("😀", "en"),
    ],
)
def test_language(text, language):
    assert language_of(text) == language


def test_many_threads_at_once():
    """Neither Sudachi nor the stemmer may be used by two threads: each has its own."""
    texts = [f"検索エンジン{number}の設定を変更する方法 studies {number}" for number in range(200)]
    expected = [words_of(text) for text in texts]
    results: list[list[list[str]]] = []

    def work():
        results.append([words_of(text) for text in texts])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8
