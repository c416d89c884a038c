"""The glossary as Markdown, JSON and CSV, and the command that writes it."""

import csv
import json
import os
import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils.translation import get_language, override
from markdown_it import MarkdownIt

from projects.access import OPERATOR
from projects.exports import EntryData, glossary_csv, glossary_json, glossary_markdown
from projects.exports.published import export
from projects.services.glossary import publish_entries
from projects.terms.keys import key_of
from projects.terms.readings import reading_of
from tests import factories


def data(term: str, definition: str = "What it is.", **fields) -> EntryData:
    return EntryData(
        term=term,
        key=key_of(term),
        reading=reading_of(term),
        language="en",
        definition=definition,
        **fields,
    )


def place(quote: str, path: str = "guide/a.md", line: int = 3) -> dict:
    return {
        "document_id": 1,
        "path": path,
        "file_hash": "f" * 64,
        "line_start": line,
        "line_end": line,
        "heading_path": ["Guide"],
        "quote": quote,
    }


def rows_of(entries) -> list[dict[str, str]]:
    text = "".join(glossary_csv(entries))
    return list(csv.DictReader(StringIO(text.removeprefix("\ufeff"), newline="")))


def rendered(text: str) -> str:
    return MarkdownIt("commonmark").render(text)


class TestJson:
    def test_the_shape_that_programs_rely_on(self):
        entry = data(
            "灯台",
            confidence=0.123456,
            category="technical_term",
            aliases=("lighthouse",),
            related=("港",),
            score=7.0,
            frequency=12,
            evidence=[place("灯台とは\n塔である")],
            prompt_version="define-1",
        )
        assert json.loads("".join(glossary_json([entry]))) == {
            "entries": [
                {
                    "term": "灯台",
                    "definition": "What it is.",
                    "confidence": 0.1235,
                    "category": "technical_term",
                    "aliases": ["lighthouse"],
                    "related": ["港"],
                    "score": 7.0,
                    "occurrences": 12,
                    "evidence": [
                        {"document": "guide/a.md", "line": 3, "quote": "灯台とは\n塔である"}
                    ],
                }
            ]
        }

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_any_number_of_entries_is_valid(self, count):
        text = "".join(glossary_json(data(f"term {n}") for n in range(count)))
        assert len(json.loads(text)["entries"]) == count

    def test_it_is_written_piece_by_piece(self):
        asked = []

        def entries():
            for number in range(3):
                asked.append(number)
                yield data(f"term {number}")

        pieces = glossary_json(entries())
        next(pieces)
        assert asked == []
        next(pieces)
        assert asked == [0]


class TestCsv:
    def test_columns_and_cells(self):
        entry = data(
            "quay, the",
            'A "place"\nfor ships.',
            aliases=("wharf", "dock"),
            score=-1.5,
            evidence=[place("the quay\n  is long"), place("a quay", line=9)],
        )
        (row,) = rows_of([entry])
        assert row["term"] == "quay, the"
        assert row["definition"] == 'A "place"\nfor ships.'
        assert row["aliases"] == "wharf; dock"
        assert row["score"] == "-1.5"
        assert row["evidence"] == "guide/a.md:3: the quay is long\nguide/a.md:9: a quay"

    def test_spreadsheets_are_told_the_encoding(self):
        assert next(glossary_csv([])).startswith("\ufeffterm,")

    @pytest.mark.parametrize("sign", [*"=+-@＝＋－＠", "\t=", " +", "\r@"], ids=range(11))
    def test_a_cell_is_never_a_formula(self, sign):
        text = f"{sign}HYPERLINK(1)"
        (row,) = rows_of([data("x", text, aliases=(text,), related=(text,))])
        for column in ("definition", "aliases", "related"):
            assert row[column].startswith("'")
            assert row[column].endswith("HYPERLINK(1)")

    def test_ordinary_words_stay_as_they_are(self):
        (row,) = rows_of([data("x", "1-2 = a+b @home")])
        assert row["definition"] == "1-2 = a+b @home"


class TestMarkdown:
    def test_a_document_for_people(self):
        entries = [
            data("Anchor", aliases=("kedge",), related=("chain",), category="technical_term"),
            data(
                "quay", "A place.", needs_review=True, evidence=[place("The **quay**\nis *long*.")]
            ),
        ]
        with override("en"):
            text = "".join(
                glossary_markdown(
                    entries, title="Harbour", categories={"technical_term": "Technical term"}
                )
            )
        assert text == (
            "# Harbour\n"
            "\n## Anchor\n\nWhat it is.\n\n"
            "- Category: Technical term\n- Also called: kedge\n- See also: chain\n"
            "\n## quay\n\nA place.\n\n- Note: needs review\n\n"
            "> The quay is long.\n>\n> — guide/a.md:3\n"
        )

    def test_letters_are_headings_when_asked(self):
        entries = [data("Anchor"), data("apple"), data("quay"), data("灯台")]
        text = "".join(glossary_markdown(entries, title="T", language="en", letters=True))
        headings = [line for line in text.splitlines() if line.startswith("#")]
        assert headings == [
            "# T",
            "## A",
            "### Anchor",
            "### apple",
            "## Q",
            "### quay",
            "## た",
            "### 灯台",
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "# no heading",
            "- no list",
            "+ none",
            "1. none",
            "12) none",
            "a *b* _c_ `d` **e**",
            "<script>alert(1)</script>",
            "[a](javascript:alert)",
            "![a](b)",
            "> no quotation",
            "one\n---\ntwo",
            "one\n===\ntwo",
            "    no code",
            "~~~\nno code",
            "&lt; stays",
            "C:\\temp\\*",
            "snake_case_name",
            "The __init__ method, and __all__",
        ],
        ids=range(18),
    )
    def test_words_are_words_whatever_signs_are_in_them(self, text):
        page = "".join(glossary_markdown([data("x", text)], title="T", language="en"))
        html = rendered(page)
        body = html.split("</h2>\n", 1)[1]
        plain = "\n".join(line.strip() for line in text.split("\n"))
        escaped = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        assert body == f"<p>{escaped}</p>\n"

    @pytest.mark.parametrize("term", ["C#", "C# #", "F ##", "# #", "__init__"])
    def test_a_heading_says_the_whole_term(self, term):
        pages = glossary_markdown([data(term)], title=term, language="en")
        html = rendered("".join(pages))
        assert html.startswith(f"<h1>{term}</h1>\n<h2>{term}</h2>\n")

    def test_an_underscore_in_a_word_is_left_alone(self):
        text = "".join(glossary_markdown([data("snake_case")], title="T", language="en"))
        assert "## snake_case\n" in text

    def test_it_speaks_the_language_of_the_glossary_and_leaves_the_readers_alone(self):
        with override("en"):
            pieces = glossary_markdown([data("x", aliases=("y",))], title="T", language="ja")
            for _piece in pieces:
                assert get_language() == "en"


@pytest.fixture
def published(project):
    entries = [
        data("quay", score=1.0, frequency=2, evidence=[place("a quay")]),
        data("anchor", score=9.0),
        data("灯台", score=5.0),
    ]
    publish_entries(project=project, entries=entries, run_id=1, actor=OPERATOR)
    return project


class TestPublished:
    def test_programs_get_the_best_first_and_people_the_order(self, published):
        entries = json.loads("".join(export(published, "json")))["entries"]
        assert [entry["term"] for entry in entries] == ["anchor", "灯台", "quay"]
        text = "".join(export(published, "md"))
        assert text.startswith("# Harbour\n\n## A\n\n### anchor\n")
        assert text.index("### quay") < text.index("### 灯台")

    def test_other_projects_are_not_in_it(self, published):
        other = factories.make_project("Other")
        assert json.loads("".join(export(other, "json"))) == {"entries": []}

    def test_in_a_few_queries(self, published, django_assert_max_num_queries):
        with django_assert_max_num_queries(2):
            "".join(export(published, "md"))


class TestCommand:
    def run(self, *arguments: object) -> str:
        out = StringIO()
        call_command("exportglossary", *map(str, arguments), stdout=out, stderr=StringIO())
        return out.getvalue()

    def test_to_standard_output_as_markdown_unless_told(self, published):
        assert self.run("harbour") == "".join(export(published, "md"))
        assert self.run(published.pk, "--format", "json") == "".join(export(published, "json"))

    @pytest.mark.parametrize(
        ("count", "told"), [(1, "1 entry is in "), (2, "2 entries are in ")], ids=["one", "more"]
    )
    def test_how_many_there_are(self, project, owner, tmp_path, count, told):
        entries = [data(term) for term in ("pilot", "pier")[:count]]
        publish_entries(project=project, entries=entries, run_id=7, actor=owner)
        err = StringIO()
        call_command("exportglossary", "harbour", output=tmp_path / "g.md", stderr=err)
        assert err.getvalue() == f"{told}{tmp_path / 'g.md'}.\n"

    def test_a_part_of_it(self, project, owner):
        entries = [
            data("pilot", aliases=["Lotse"], category="title", score=2.0),
            data("pier", score=1.0),
            data("係留索"),
        ]
        publish_entries(project=project, entries=entries, run_id=7, actor=owner)

        def terms(*arguments: str) -> list[str]:
            rows = json.loads(self.run("harbour", "--format", "json", *arguments))["entries"]
            return [row["term"] for row in rows]

        assert terms("--search", "ＬＯＴＳＥ") == ["pilot"]
        assert terms("--letter", "P") == ["pilot", "pier"]
        assert terms("--letter", "P", "--category", "title") == ["pilot"]
        with pytest.raises(CommandError, match="no category"):
            terms("--category", "nope")

    def test_to_a_file_whose_name_says_the_format(self, published, tmp_path):
        for name, start in [("g.json", "{"), ("g.csv", "\ufeffterm"), ("g.MD", "# "), ("g", "# ")]:
            target = tmp_path / name
            assert self.run("Harbour", "--output", target) == ""
            assert target.read_text(encoding="utf-8").startswith(start)
            assert target.stat().st_mode & 0o777 == 0o666 & ~umask()
        assert len(list(tmp_path.iterdir())) == 4

    def test_an_old_file_stays_when_the_new_one_fails(self, published, tmp_path, monkeypatch):
        target = tmp_path / "g.json"
        target.write_text("old")

        def broken(*arguments, **options):
            yield '{"entries": ['
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("projects.management.commands.exportglossary.export", broken)
        with pytest.raises(CommandError, match="No space left"):
            self.run("Harbour", "--output", target)
        assert target.read_text() == "old"
        assert list(tmp_path.iterdir()) == [target]

    def test_a_link_stays_and_what_it_leads_to_is_replaced(self, published, tmp_path):
        for name in ("there.md", "not-yet.md"):
            (tmp_path / "real").mkdir(exist_ok=True)
            target, link = tmp_path / "real" / name, tmp_path / name
            if name == "there.md":
                target.write_text("old")
            link.symlink_to(target)
            self.run("Harbour", "--output", link)
            assert link.is_symlink()
            assert target.read_text().startswith("# Harbour")
            assert not target.is_symlink()

    def test_a_pipe_stays_one(self, published, tmp_path):
        pipe, link = tmp_path / "pipe", tmp_path / "link"
        os.mkfifo(pipe)
        link.symlink_to(pipe)
        for way in (pipe, link):
            read: list[str] = []
            reader = threading.Thread(target=lambda read=read: read.append(pipe.read_text()))
            reader.start()
            self.run("Harbour", "--output", way)
            reader.join()
            assert read[0].startswith("# Harbour")
        assert pipe.is_fifo()
        assert link.is_symlink()

    def test_a_name_as_long_as_the_file_system_allows(self, published, tmp_path):
        target = tmp_path / ("用" * 80 + ".md")
        self.run("Harbour", "--output", target)
        assert target.read_text().startswith("# Harbour")

    def test_a_link_that_leads_to_itself(self, published, tmp_path):
        (tmp_path / "g.md").symlink_to(tmp_path / "g.md")
        with pytest.raises(CommandError, match="Cannot write"):
            self.run("Harbour", "--output", tmp_path / "g.md")

    @pytest.mark.parametrize("where", ["", "missing/g.md"], ids=["folder", "nowhere"])
    def test_where_nothing_can_be_written(self, published, tmp_path, where):
        with pytest.raises(CommandError, match="Cannot write"):
            self.run("Harbour", "--output", tmp_path / where)

    @pytest.mark.parametrize("wanted", ["Nowhere", "99999", "9" * 30])
    def test_no_such_project(self, db, wanted):
        with pytest.raises(CommandError, match="no project"):
            self.run(wanted)

    def test_a_viewer_may_and_an_outsider_may_not(self, published, viewer, outsider):
        assert self.run("Harbour", "--as", viewer.username).startswith("# Harbour")
        with pytest.raises(CommandError, match="no project"):
            self.run("Harbour", "--as", outsider.username)


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
