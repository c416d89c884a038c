from projects.intake.convert.pdf import convert
from projects.intake.convert.text import scrub
from projects.intake.files import Draft, Rejected
from tests.projects.intake.builders import GOTHIC, MINCHO, Pdf, read_all

ENGLISH = [
    "A glossary collects the words that a team uses and says what",
    "they mean. New members read it first, because the other docu-",
    "ments are hard to follow without it.",
]
JAPANESE = [
    "用語集とは、組織の中で使われる言葉の意味をまとめた文書で",
    "ある。新しく加わった人がすぐに仕事を始められるように、略",
    "語や製品名も説明する。",
]


def markdown(pdf: Pdf) -> str:
    return scrub(convert(pdf.data()))


def test_headings_by_size_and_paragraphs_from_lines():
    pdf = Pdf()
    pdf.line(72, 780, "製品マニュアル", size=24, font=GOTHIC)
    pdf.line(72, 740, "Chapter one", size=16)
    pdf.lines(72, 715, ENGLISH)
    pdf.line(72, 650, "第2章 検索", size=16, font=GOTHIC)
    pdf.lines(72, 620, JAPANESE, font=MINCHO)
    pdf.line(72, 560, "Details", size=13)
    pdf.lines(72, 540, ["Last words."])
    assert markdown(pdf) == (
        "# 製品マニュアル\n\n## Chapter one\n\n"
        "A glossary collects the words that a team uses and says what they mean. New members read "
        "it first, because the other documents are hard to follow without it.\n\n"
        "## 第2章 検索\n\n" + "".join(JAPANESE) + "\n\n### Details\n\nLast words.\n"
    )


def test_paragraphs_end_at_gaps_indents_and_short_lines():
    pdf = Pdf()
    pdf.lines(72, 780, [*ENGLISH[:2], "short end."])
    pdf.lines(72, 738, ENGLISH)  # no gap: only the short line before tells
    pdf.lines(72, 670, ENGLISH)  # a gap
    text = markdown(pdf)
    assert text.count("\n\n") == 2
    assert "short end.\n\nA glossary" in text


def test_items_and_tables():
    pdf = Pdf()
    pdf.lines(72, 780, ["• first item", "• second item"])
    for number, (term, meaning) in enumerate([("用語", "定義"), ("API", "部品どうしの約束")]):
        pdf.line(72, 720 - 18 * number, term, font=MINCHO)
        pdf.line(160, 720 - 18 * number, meaning, font=MINCHO)
    assert markdown(pdf) == (
        "- first item\n- second item\n\n"
        "| 用語 | 定義 |\n| --- | --- |\n| API | 部品どうしの約束 |\n"
    )


def test_page_furniture_is_dropped_and_sentences_cross_pages():
    pdf = Pdf()
    for page in range(1, 5):
        pdf.line(72, 815, "社内資料 第2版", size=8, font=GOTHIC)
        pdf.line(300, 25, f"- {page} -", size=8)
        pdf.line(72, 780, f"Chapter {page}", size=16)
        pdf.lines(72, 750, ENGLISH[:2] if page == 1 else ENGLISH)
        if page == 1:
            # The first page ends in the middle of a sentence.
            pdf.lines(72, 722, ENGLISH[:1])
        pdf.next_page()
    text = markdown(pdf)
    assert "社内資料" not in text
    assert "- 2 -" not in text
    assert [f"# Chapter {n}" in text for n in (1, 2, 3, 4)] == [True] * 4


def test_a_running_title_goes_with_its_page_number():
    pdf = Pdf()
    for page, chapter in enumerate(["Ships", "Ships", "Harbours", "Harbours", "Cranes"], start=7):
        pdf.line(72, 810, f"{chapter} {page}", size=9)
        pdf.lines(72, 760, [f"About {chapter.lower()}, part {page}.", *ENGLISH])
        pdf.next_page()
    text = markdown(pdf)
    assert "About ships, part 8." in text
    assert "Ships 8" not in text


def test_text_repeated_on_every_page_is_not_furniture_when_it_is_text():
    pdf = Pdf()
    at_the_top = Pdf()
    for page in range(3):
        pdf.lines(72, 600, [f"Answer {page}: yes."])
        at_the_top.lines(72, 800, [f"Answer {page}: yes."])
        pdf.next_page()
        at_the_top.next_page()
    for text in (markdown(pdf), markdown(at_the_top)):
        assert all(f"Answer {page}: yes." in text for page in range(3))


def test_reading_order_follows_the_page_not_the_file():
    pdf = Pdf()
    pdf.line(72, 500, "Third.")
    pdf.line(72, 560, "Second.")
    pdf.line(72, 100, "Fourth.")
    pdf.line(72, 700, "First", size=20)
    assert markdown(pdf) == "# First\n\nSecond.\n\nThird.\n\nFourth.\n"


def test_columns_are_read_one_after_the_other():
    pdf = Pdf()
    left = ["Left one goes on and", "left two ends it here."]
    right = ["Right one goes on and", "right two ends it all."]
    pdf.lines(320, 700, right)
    pdf.lines(72, 700, left)
    assert markdown(pdf) == (
        "Left one goes on and left two ends it here.\n\n"
        "Right one goes on and right two ends it all.\n"
    )


def test_vertical_writing_goes_from_right_to_left():
    pdf = Pdf(vertical=True)
    for column, text in enumerate(["縦書きの文章は右から", "左へ読み進める。", "次の段落。"]):
        pdf.line(500 - 20 * column, 780, text, size=12, font=MINCHO)
    assert markdown(pdf) == "縦書きの文章は右から左へ読み進める。\n\n次の段落。\n"


def test_signs_that_look_like_markup_are_escaped():
    pdf = Pdf()
    pdf.lines(72, 700, ["# not a heading, <b> and *stars*"])
    assert markdown(pdf) == "\\# not a heading, \\<b> and \\*stars\\*\n"


def encrypted() -> bytes:
    pdf = Pdf(password="secret")
    pdf.line(72, 700, "Hidden")
    return pdf.data()


def pictures_only() -> bytes:
    pdf = Pdf()
    pdf.box()
    pdf.next_page()
    pdf.box()
    return pdf.data()


def test_from_start_to_end_with_what_cannot_be_read():
    pdf = Pdf()
    pdf.line(72, 780, "用語集", size=20, font=GOTHIC)
    pdf.lines(72, 740, JAPANESE, font=MINCHO)
    good, *bad = read_all(
        {
            "manual/用語集.PDF": pdf.data(),
            "locked.pdf": encrypted(),
            "scanned.pdf": pictures_only(),
            "broken.pdf": b"%PDF-1.4\nnonsense",
        }
    )
    assert isinstance(good, Draft)
    assert (good.path, good.title, good.format) == ("manual/用語集.PDF", "用語集", "pdf")
    for result, word in zip(bad, ["password", "pictures", "damaged"], strict=True):
        assert isinstance(result, Rejected)
        assert result.code == "conversion_failed"
        assert word in result.message
