import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.choices import Language
from projects.terms.readings import LETTERS, REST, index_letter, reading_of, signs_in_order


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


@settings(max_examples=500, deadline=None)
@given(st.text(min_size=1))
def test_the_first_sign_of_a_reading_says_where_it_stands(text: str) -> None:
    reading = reading_of(text)
    if index_letter(reading) == REST:
        assert reading[:1] == "" or reading[0] not in signs_in_order(Language.JAPANESE)
    else:
        assert reading[0] in signs_in_order(Language.JAPANESE)
        assert index_letter(reading[0]) == index_letter(reading)


def test_the_order_of_signs() -> None:
    japanese = signs_in_order(Language.JAPANESE)
    assert japanese.startswith("ぁあァアぃ")
    assert japanese.endswith("abcdefghijklmnopqrstuvwxyz")
    assert signs_in_order(Language.ENGLISH) == japanese[-26:] + japanese[:-26]
    for first, second in ("うゔ", "ゔぇ", "がき", "ゕき", "んa"):
        assert japanese.index(first) < japanese.index(second)
