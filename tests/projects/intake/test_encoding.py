import codecs

import pytest

from projects.intake.encoding import decode, decode_html
from projects.intake.errors import Refused

SHORT = [
    "はい",
    "用語",
    "日本語",
    "検索する",
    "東京",
    "文書管理",
    "テスト",
    "データベース",
    "これは短い文です。",
    "APIの仕様",
    "第1章 はじめに",
    "「引用」です。",
    "株式会社",
    "ログインできません",
    "2024年4月1日（月）",
    "綺麗な薔薇",
    "承認待ち",
    "エラー: 404",
    "名前：山田　太郎",
    "はじめての README",
]
LONG = [
    "用語集とは、組織の中で使われる言葉の意味をまとめた文書である。\n" * 40,
    "# 概要\n\nこのシステムは文書を集め、索引を作り、用語を抜き出す。\n\n- 検索\n- 承認\n" * 20,
    "設定ファイル (config.yaml) の `timeout` を 30 に変更してください。再起動が必要です。\n" * 30,
    "import os\nprint('hello')  # 画面に表示する\n" * 100,
    "東京都千代田区 大阪府大阪市 北海道札幌市 愛知県名古屋市 福岡県福岡市\n" * 10,
]
HALF_WIDTH = [
    "ｱﾌﾟﾘｹｰｼｮﾝ ｻｰﾊﾞｰ ﾃﾞｰﾀﾍﾞｰｽ",
    "ｶﾀｶﾅだけでなくひらがなもある",
    "商品名: ﾎﾞｰﾙﾍﾟﾝ 黒 10本",
    "ﾃｽﾄ ﾃﾞｰﾀ ﾌｧｲﾙ ｲﾝﾎﾟｰﾄ ｴﾗｰ",
    "ﾕｰｻﾞｰ名とﾊﾟｽﾜｰﾄﾞを入力",
]


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp"])
@pytest.mark.parametrize("text", [*SHORT, *LONG, *HALF_WIDTH])
def test_shift_jis_and_euc_jp_are_told_apart(text, encoding):
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("text", [*SHORT, *LONG])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso2022_jp", "utf-32"])
def test_unicode_and_mail_encodings(text, encoding):
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        *LONG,
        "plain English\n",
        "見出し\n本文です。",
        "Привет, мир\n",
        "这是文档。\n",
        "문서입니다.\n",
    ],
)
def test_utf16_without_a_mark(text, encoding):
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_the_mark_is_dropped(mark):
    encoding = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
    assert decode(mark + "# 見出し".encode(encoding)) == "# 見出し"


@pytest.mark.parametrize(
    "text",
    [
        "Le café d'été à Noël : « où êtes-vous ? »",
        "Größe: über Müllers Straße, schöne Grüße",
        "¿Qué pasa? El niño comió piñas.",
        "Informação e coração não são só palavras",
        "Åsa får räksmörgås på ön",
        "hyvää päivää",
        "“Quoted” text – with dashes… © 2024 25°C",
        "café",
    ],
)
def test_western_text_as_the_last_resort(text):
    assert decode(text.encode("cp1252")) == text


@pytest.mark.parametrize(
    "data",
    [
        "①漢字㈱と髙橋".encode("cp932"),
        "①漢字".encode("euc_jis_2004"),
        b"\x1b$B-!4A;z\x1b(B",
    ],
)
def test_signs_that_vendors_added(data):
    assert "①漢字" in decode(data)


def test_half_width_kana_in_mail():
    assert decode(b"\x1b$B%F\x1b(I12\x1b(B ok") == "テｱｲ ok"


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01",
        b"\x00\x01\x02\x03",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00",
        b"abc\x00def",
        b"\x7fELF\x02\x01\x01\x00\x00",
        b"colour \x1b[31mred\x1b[0m",
        b"bell \x07",
        b"\xff\xfea\x00\x00\x00",
        bytes(range(256)),
        b"GIF89a\x01\x00\x01\x00\x80\x00\x00",
    ],
)
def test_binary_content_is_refused(data):
    with pytest.raises(Refused) as caught:
        decode(data)
    assert caught.value.code == "binary_content"


def test_a_refusal_says_where_the_binary_begins():
    with pytest.raises(Refused) as caught:
        decode(b"one\ntwo\nthr\x08ee")
    assert "U+0008" in caught.value.message
    assert "3" in caught.value.message


@pytest.mark.parametrize(
    "data",
    [
        "Привет, это документация по проекту.".encode("cp1251"),
        "这是一个关于软件开发的文档，包含术语的定义和说明。".encode("gb18030"),
        "이것은 소프트웨어 개발 문서입니다. 용어의 정의와 설명.".encode("euc_kr"),
        "這是一份關於軟體開發的文件，包含術語的定義與說明。".encode("big5"),
        b"\xff\xfe\x00\xd8",
        b"\xef\xbb\xbf\xff\xfe",
    ],
)
def test_no_guess_is_better_than_a_wrong_one(data):
    with pytest.raises(Refused) as caught:
        decode(data)
    assert caught.value.code == "encoding_unknown"
    assert "UTF-8" in caught.value.message


def test_newlines_and_stray_marks():
    assert decode(b"a\r\nb\rc\nd") == "a\nb\nc\nd"
    assert decode("\ufeff\ufeffa".encode()) == "a"
    assert decode(b"end of a DOS file\r\n\x1a") == "end of a DOS file\n"
    assert decode(b"end of a CP/M block\r\n" + b"\x1a" * 3001) == "end of a CP/M block\n"
    assert decode(b"page\x0cbreak\t.") == "page\x0cbreak\t."


def test_a_page_names_its_own_encoding():
    page = '<html><head><meta charset="{}"></head><p>{}</p>'
    assert "Привет" in decode_html(page.format("windows-1251", "Привет").encode("cp1251"))
    assert "说明" in decode_html(page.format("gb2312", "说明文档").encode("gb18030"))
    old = '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=x-sjis"><p>ﾃｽﾄ</p>'
    assert "ﾃｽﾄ" in decode_html(old.encode("cp932"))
    assert "é" in decode_html(b'<?xml version="1.0" encoding="ISO-8859-1"?><p>\xe9</p>')


def test_a_page_that_names_the_wrong_encoding_is_still_read():
    assert "日本語" in decode_html('<meta charset="shift_jis"><p>日本語</p>'.encode())
    assert "日本語です" in decode_html('<meta charset="utf-8"><p>日本語です</p>'.encode("euc_jp"))
    assert "日本語です" in decode_html('<meta charset="zlib"><p>日本語です</p>'.encode("cp932"))
