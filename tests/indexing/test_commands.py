"""`searchdocs` and `index`: what people type, and what they get to see."""

import json
import re
import signal
import threading
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection
from django.utils.translation import override

from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry
from indexing.choices import IndexStatus, RequestStatus
from indexing.models import IndexRequest, Section
from indexing.search.options import SearchPage, SearchResult
from indexing.services.building import build
from indexing.services.requests import fail
from projects.access import OPERATOR
from projects.management.targets import project_named
from tests import factories
from tests.indexing.harbour import make_harbour
from tests.indexing.working import index, make_indexed, take_one
from tests.jobs.scene import make_worker


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def run(command: str, *arguments: object) -> tuple[str, str]:
    """What it writes to standard output, and to standard error."""
    out, err = StringIO(), StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(command: str, *arguments: object, returncode: int = 2) -> str:
    with pytest.raises(CommandError) as error:
        run(command, *arguments)
    assert error.value.returncode == returncode
    return str(error.value)


def break_one(project, path="bad.md") -> IndexRequest:
    factories.make_document(project, path)
    assert fail(take_one(project), "ValueError: no luck\x1b[31m")
    return IndexRequest.objects.get(document__path=path)


@pytest.mark.django_db
class TestWhichProject:
    def test_by_name_in_any_case_or_by_id(self, project):
        for wanted in ("Harbour", " harbour ", str(project.pk)):
            assert project_named(wanted, OPERATOR) == project

    def test_a_name_wins_over_an_id(self, project):
        other = factories.make_project(str(project.pk))
        assert project_named(str(project.pk), OPERATOR) == other

    @pytest.mark.parametrize("wanted", ["Nowhere", "0", "9" * 5000, "", "¹"])
    def test_none(self, project, wanted):
        with pytest.raises(Refusal):
            project_named(wanted, OPERATOR)

    def test_what_somebody_cannot_see_is_not_there(self, project, outsider):
        with pytest.raises(Refusal):
            project_named("Harbour", outsider)


@pytest.mark.django_db
class TestSearch:
    def test_it_prints_as_the_seed_shows(self, project, monkeypatch):
        results = [
            result(
                "docs/architecture.md", "Vector検索エンジン", 0.95, IndexStatus.LATEST, "LanceDB…"
            ),
            result("README.md", "", 0.891, IndexStatus.UPDATING, "two\n  lines\x1b[31m"),
        ]
        monkeypatch.setattr(
            "indexing.management.commands.searchdocs.search",
            lambda options: SearchPage(options, results, total=2, total_is_exact=True),
        )
        out, err = run("searchdocs", "Vector検索", "--project", "Harbour")
        assert out == (
            'Search results for "Vector検索" (2)\n'
            "\n"
            "1. docs/architecture.md - Vector検索エンジン (score: 0.95) [latest]\n"
            "   LanceDB…\n"
            "\n"
            "2. README.md - A title (score: 0.89) [updating]\n"
            "   two lines [31m\n"
        )
        assert err == ""

    def test_real_results_as_text_and_as_json(self, project, client, sign_in, owner):
        make_harbour(project, "guide/harbour.md")
        out, _err = run("searchdocs", "pilot", "--project", "harbour", "--mode", "lexical")
        heading, blank, first, snippet = out.splitlines()
        assert heading == 'Search results for "pilot" (1)'
        assert first.startswith("1. guide/harbour.md - Pilots (score: ")
        assert first.endswith(") [latest]")
        assert blank == ""
        assert snippet.startswith("   A pilot guides ships through the narrow channel.")

        out, _err = run("searchdocs", "pilot", "--mode=lexical", "--format=json")
        answer = sign_in(owner).get("/api/search?q=pilot&mode=lexical").json()
        assert json.loads(out) == answer

    def test_several_words_need_no_quotes(self, project):
        out, _err = run("searchdocs", "night", "watch", "--project", "Harbour", "--mode", "lexical")
        assert out == 'Search results for "night watch" (0)\n'

    def test_nothing_found_is_no_failure(self, project):
        out, _err = run("searchdocs", "pilot", "--project", "Harbour", "--mode", "lexical")
        assert out == 'Search results for "pilot" (0)\n'

    def test_a_hint_goes_where_it_does_not_disturb(self, project):
        out, err = run("searchdocs", "  ")
        assert out.endswith("(0)\n")
        assert err

    def test_all_visible_projects_are_named(self, project, viewer):
        make_harbour(project, "a.md")
        other = factories.make_project("Elsewhere")
        make_harbour(other, "b.md")
        out, _err = run("searchdocs", "pilot", "--mode", "lexical")
        assert "Harbour: a.md - Pilots" in out
        assert "Elsewhere: b.md - Pilots" in out
        out, _err = run("searchdocs", "pilot", "--mode", "lexical", "--as", "vera")
        assert "1. a.md - Pilots" in out
        assert "b.md" not in out

    def test_options_narrow_it(self, project):
        make_harbour(project, "guide/a.md")
        make_harbour(project, "guide/old/b.md")
        make_indexed(project, "notes/c.md", "# Top\n\n## Middle\n\n### Deep\n\nA lighthouse.\n")

        def found(query: str, *options: str) -> list[str]:
            out, _err = run(
                "searchdocs",
                query,
                "--mode=lexical",
                "--format=json",
                "--project=Harbour",
                *options,
            )
            return [row["documentPath"] for row in json.loads(out)["results"]]

        assert found("pilot", "--path", "guide/", "--exclude-path", "old/") == ["guide/a.md"]
        assert len(found("pilot", "--limit", "1")) == 1
        assert len(found("pilot", "--limit", "1000")) == 2
        factories.make_document(project, "guide/a.md", "# New\n")
        assert found("pilot", "--index-status", "latest_only") == ["guide/old/b.md"]
        for depth in (["--depth", "2", "1"], ["--depth", "1,2"], ["--depth=1", "--depth=2"]):
            out, _err = run("searchdocs", "lighthouse", "--mode=lexical", *depth)
            assert "notes/c.md - Middle" in out

    def test_in_one_sentence_why_not(self, project, outsider):
        assert refused("searchdocs", "x", "--project", "Nowhere") == (
            "There is no project “Nowhere” that you may see."
        )
        assert "Harbour" in refused("searchdocs", "x", "--project", "Harbour", "--as", "otto")
        assert "nobody" in refused("searchdocs", "x", "--as", "nobody")
        assert "pattern" in refused("searchdocs", "x", "--path", "!", "--project", "Harbour")

    @pytest.mark.parametrize(
        "wrong", ["--limit=0", "--limit=few", "--depth=7", "--depth=1,x", "--mode=magic"]
    )
    def test_wrong_usage(self, project, wrong):
        with pytest.raises(CommandError, match="argument --"):
            run("searchdocs", "x", wrong)


def result(path, heading, score, status, snippet) -> SearchResult:
    return SearchResult(
        project_id=1,
        project_name="Harbour",
        document_id=1,
        document_path=path,
        document_title="A title",
        section_id=1,
        heading=heading,
        heading_path=(heading,),
        number="1",
        depth=1,
        line_start=1,
        line_end=2,
        snippet_html=snippet,
        snippet=snippet,
        score=score,
        index_status=status,
        is_latest=True,
        has_pending_update=False,
        document_hash="",
        indexed_at=None,  # type: ignore[arg-type]
    )


@pytest.mark.django_db
class TestStatus:
    def test_a_table_and_what_failed(self, project):
        make_harbour(project, "a.md")
        break_one(project)
        factories.make_document(project, "b.md")
        factories.make_project("Empty one")
        out, _err = run("index", "status", "--project", "Harbour")
        heading, line, blank, headings, failure = out.splitlines()
        assert line.split()[:7] == ["Harbour", "3", "1", "3", "1", "0", "1"]
        assert heading.index("Documents") == line.index("3")
        assert blank == ""
        assert headings.split() == ["Project", "Document", "Attempts", "Error"]
        assert failure.split(maxsplit=3)[:3] == ["Harbour", "bad.md", "1"]
        assert failure.endswith("ValueError: no luck [31m")
        everything, _err = run("index", "status")
        assert "Empty one" in everything

    def test_for_programs(self, project):
        break_one(project)
        out, _err = run("index", "status", "--project=Harbour", "--format=json")
        (state,) = json.loads(out)["projects"]
        assert (state["name"], state["documents"], state["failed"]) == ("Harbour", 1, 1)
        assert [row["path"] for row in state["failures"]] == ["bad.md"]

    def test_in_japanese_the_columns_stand_straight(self, project):
        with override("ja"):
            out, _err = run("index", "status", "--project", "Harbour")
        assert len(out.splitlines()) == 2


@pytest.mark.django_db
class TestRebuildAndRetry:
    def test_without_waiting_it_only_asks(self, project):
        make_harbour(project, "guide/a.md")
        make_harbour(project, "b.md")
        out, _err = run("index", "rebuild", "--project", "Harbour", "--path", "guide/")
        assert out == "1 document is queued.\n"
        (waiting,) = IndexRequest.objects.open()
        assert (waiting.document.path, waiting.force) == ("guide/a.md", False)
        out, _err = run("index", "rebuild", "--project", "Harbour", "--force", "--format", "json")
        assert json.loads(out)["requests"] == 2
        assert IndexRequest.objects.open().filter(force=True).count() == 2

    def test_only_those_who_may_edit(self, project, viewer, editor):
        make_harbour(project, "a.md")
        assert (
            "editor"
            in refused("index", "rebuild", "--project=Harbour", "--as=vera", returncode=1).lower()
        )
        assert not IndexRequest.objects.open().exists()
        run("index", "rebuild", "--project=Harbour", "--as=edda")
        assert AuditEntry.objects.filter(action="index.rebuild").count() == 1
        run("index", "status", "--project=Harbour", "--as=vera")

    def test_why_not(self, project):
        assert "Nowhere" in refused("index", "rebuild", "--project", "Nowhere")
        assert refused("index", "rebuild", "--project=Harbour", "--path=nowhere/") == (
            "No document of the project matches these paths."
        )
        with pytest.raises(CommandError, match="--project"):
            run("index", "rebuild")

    def test_with_nobody_there_it_does_the_work_itself(self, project):
        make_harbour(project, "a.md")
        factories.make_document(project, "b.md")
        before = set(Section.objects.values_list("pk", flat=True))
        out, err = run("index", "rebuild", "--project", "Harbour", "--force", "--wait")
        assert "2 documents are queued." in out
        assert err.splitlines()[-1] == "2 of 2 documents"
        assert not IndexRequest.objects.open().exists()
        assert not before & set(Section.objects.values_list("pk", flat=True))

    def test_a_bar_for_people(self, project):
        factories.make_document(project, "a.md")
        err = Terminal()
        call_command("index", "status", project="Harbour", wait=True, stdout=StringIO(), stderr=err)
        assert "\r\x1b[K██████████████████████████████ 1 of 1 documents" in err.getvalue()
        assert err.getvalue().endswith("\r\x1b[K")

    def test_a_failure_is_a_failure(self, project, monkeypatch):
        def broken(*args, **options):
            raise ValueError("too strange a text")

        monkeypatch.setattr("indexing.services.drain.build", broken)
        factories.make_document(project, "a.md")
        out = StringIO()
        with pytest.raises(CommandError, match="1 document could not be indexed") as error:
            call_command(
                "index", "status", project="Harbour", wait=True, stdout=out, stderr=StringIO()
            )
        assert error.value.returncode == 1
        assert "too strange a text" in out.getvalue()

    def test_retry(self, project):
        request = break_one(project)
        out, _err = run("index", "retry", "--project", "Harbour", "--wait")
        assert out.startswith("1 document is queued.\n")
        request.refresh_from_db()
        assert request.status == RequestStatus.COMPLETED
        out, _err = run("index", "retry", "--project", "Harbour")
        assert out == "0 documents are queued.\n"


@pytest.mark.django_db(transaction=True)
def test_with_workers_there_it_waits_for_them(project):
    factories.make_document(project, "a.md")
    make_worker()

    def work() -> None:
        time.sleep(0.5)
        index(project)
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    began = time.monotonic()
    run("index", "status", "--project", "Harbour", "--wait")
    assert time.monotonic() - began > 0.4
    assert not IndexRequest.objects.open().exists()
    worker.join()


@pytest.mark.django_db
def test_ctrl_c_gives_back_what_was_in_hand(project, monkeypatch):
    def build_and_press(*args, **options):
        signal.raise_signal(signal.SIGINT)
        return build(*args, **options)

    monkeypatch.setattr("indexing.services.drain.build", build_and_press)
    for number in range(5):
        factories.make_document(project, f"{number}.md", f"# Number {number}\n")
    before = signal.getsignal(signal.SIGINT)
    sentence = refused("index", "status", "--project", "Harbour", "--wait", returncode=130)
    assert sentence == "Stopped. 5 documents still wait."
    assert set(IndexRequest.objects.values_list("status", "attempts")) == {("pending", 0)}
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["searchdocs", "pilot"], None),
        (["searchdocs", "pilot", "--limit", "none"], 2),
        (["searchdocs"], 2),
        (["searchdocs", "pilot", "--project", "Nowhere"], 2),
        (["index", "status", "--wait"], None),
        (["index", "rebuild"], 2),
        (["index", "rebuild", "--project", "Nowhere"], 2),
        (["mcp", "--as", "nobody"], 2),
    ],
)
def test_how_it_ends(project, capsys, arguments, code, monkeypatch):
    # Else the command's end would close the connection of the test.
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)
    command = load_command_class("indexing", arguments[0])
    if code is None:
        command.run_from_argv(["manage.py", *arguments])
        return
    with pytest.raises(SystemExit) as end:
        command.run_from_argv(["manage.py", *arguments])
    assert end.value.code == code
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    if code == 1:
        assert re.fullmatch(r"CommandError: There is no [^\n]+\n", said.err)
