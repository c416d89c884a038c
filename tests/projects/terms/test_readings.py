import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.terms.readings import LETTERS, index_letter, reading_of


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("再生可能エネルギー", "さいせいかのうえねるぎー"),
        ("サーバー", "さーばー"),
        ("TCP接続", "tcpせつぞく"),
        ("Message  Queue", "message queue"),
        ("ＡＰＩ", "api"),
        (".vue", "vue"),
        ("Éclair à vapeur", "eclair à vapeur"),
        ("「港」", "みなと」"),
        ("がくしゅう", "がくしゅう"),
        ("++", "++"),
    ],
)
def test_how_a_term_is_read(text: str, reading: str) -> None:
    assert reading_of(text) == reading


@pytest.mark.parametrize(
    ("reading", "letter"),
    [
        ("apple", "A"),
        ("Éclair", "E"),
        (".net", "N"),
        ("がくしゅう", "か"),
        ("ぱいぷ", "は"),
        ("ゔぁいおりん", "あ"),
        ("ゃ", "や"),
        ("ん", "わ"),
        ("サーバ", "さ"),
        ("3しょう", "#"),
        ("", "#"),
        ("渦", "#"),
    ],
)
def test_where_it_stands_in_an_index(reading: str, letter: str) -> None:
    assert index_letter(reading) == letter


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_everything_has_a_place(text: str) -> None:
    assert index_letter(reading_of(text)) in LETTERS


def test_in_the_order_of_readings_each_letter_comes_once() -> None:
    terms = [
        "zone",
        ".vue",
        "API",
        "Éclair",
        "eclipse",
        "@click",
        "virtual DOM",
        "港",
        "$emit",
        "貨物",
    ]
    letters = [index_letter(reading) for reading in sorted(map(reading_of, terms))]
    assert letters == ["A", "C", "E", "E", "E", "V", "V", "Z", "か", "ま"]
