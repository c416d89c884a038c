import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.lexical.query import MOST_CHARACTERS, parse

SIGNS = [
    '"',
    "“",
    "”",
    "「",
    "」",
    "-",
    "*",
    "(",
    ")",
    ":",
    " ",
    "^",
    "'",
    "\\",
    "%",
    "　",
    "－",
    "＂",
]
PIECES = ["AND", "OR", "NOT", "NEAR/3", "検索", "word", "\x00", "\ud83d", "😀", "{a}", "x:y"]
QUERIES = st.lists(st.sampled_from([*SIGNS, *PIECES]) | st.text(max_size=5)).map("".join)


def test_words_phrases_prefixes_and_exclusions():
    query = parse('studies "exact phrase" conf* -draft -"old text" 検索エンジン')
    assert query.words == ("studi", "検索", "エンジン")
    assert query.phrases == (("exact", "phrase"),)
    assert query.prefixes == ("conf",)
    assert query.excluded == (("draft",), ("old", "text"))
    assert query.notices == ()
    assert not query.is_empty


@pytest.mark.parametrize(
    "text",
    [
        "「全文検索」の方法",
        "“全文検索”の方法",
        '"全文検索"の方法',
        "＂全文検索＂の方法",
        "『全文検索』の方法",
    ],
)
def test_quotes_of_either_language(text):
    query = parse(text)
    assert query.phrases == (("全文", "検索"),)
    assert query.words == ("の", "方法")


def test_the_last_word_goes_on_while_somebody_types():
    assert parse("search eng", typing=True).unfinished == ("eng",)
    assert parse("search eng").unfinished == ()
    assert parse("search eng ", typing=True).unfinished == ()
    assert parse("全文検索エン", typing=True).unfinished == ("エン", "検索エン")
    assert parse("search設", typing=True).unfinished == ("設",)
    assert parse("user_na", typing=True).unfinished == ("user_na", "na")
    assert parse('"search eng"', typing=True).unfinished == ()
    assert parse("-dra", typing=True).unfinished == ()
    # One letter begins too many words to mean anything; one kana or kanji does not.
    assert parse("s", typing=True).unfinished == ()
    assert parse("設", typing=True).unfinished == ("設",)


def test_beginnings_in_japanese():
    query = parse("全文検索エン*")
    assert query.words == ("全文", "検索")
    assert query.prefixes == ("エン",)


@pytest.mark.parametrize("text", ["--help", "well-known", "a - b", "-", "- -", "x--y"])
def test_not_every_hyphen_excludes(text):
    assert parse(text).excluded == ()


def test_an_excluded_identifier_is_excluded_as_a_whole():
    assert parse("x -snake_case").excluded == (("snake_case", "snake", "case"),)
    assert parse("x －下書き").excluded == (tuple(parse("下書き").words),)


def test_operators_are_text():
    query = parse("cats AND (dogs OR birds) NOT fish NEAR/3 title:x ^y {z}")
    assert {"cat", "and", "dog", "or", "bird", "not", "fish", "near", "titl"} <= set(query.words)
    assert query.phrases == query.prefixes == query.excluded == ()


def test_unbalanced_quotes_are_text():
    assert parse('"never closed').words == ("never", "close")
    assert parse("「閉じない").words == tuple(parse("閉じない").words)


@pytest.mark.parametrize(
    "text", ["", "   ", '""', "「」", "*", "😀", "- ( ) : ^", "\x00", "\ud800"]
)
def test_nothing_to_look_for(text):
    query = parse(text, typing=True)
    assert query.is_empty
    assert query.notices == ()


def test_only_exclusions_find_nothing_and_say_so():
    query = parse("-draft")
    assert query.is_empty
    assert len(query.notices) == 1


def test_long_queries_are_cut_and_say_so():
    query = parse("word " * 2000)
    assert len(query.text) <= MOST_CHARACTERS
    assert query.words == ("word",)
    assert str(MOST_CHARACTERS) in query.notices[0]
    many = parse(" ".join(f"w{number}x" for number in range(300)))
    assert len(many.words) == 64
    assert many.notices
    assert len(parse("「" * 10_000).phrases) == 0
    assert len(parse('"a b" ' * 3 + " ".join(f'"p{n} q"' for n in range(50))).phrases) == 8


def test_language():
    assert parse("Vector検索").language == "ja"
    assert parse("vector search").language == "en"


@given(QUERIES, st.booleans())
def test_whatever_is_typed_is_a_query(text, typing):
    query = parse(text, typing=typing)
    query.text.encode()
    everything = [
        *query.words,
        *query.prefixes,
        *query.unfinished,
        *(word for phrase in (*query.phrases, *query.excluded) for word in phrase),
    ]
    for word in everything:
        assert word
        assert not any(sign in word for sign in '"\x00*')
        assert not any(character.isspace() for character in word)
    assert all(query.phrases)
    assert all(query.excluded)
    assert query.is_empty == (
        not (query.words or query.phrases or query.prefixes or query.unfinished)
    )
