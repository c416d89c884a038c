"""The server for assistants, with the real client: over a real process, and in this one."""

import json
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from mcp import Client, StdioServerParameters, stdio_client

from glossary_site.env import ROOT
from glossary_site.errors import Refusal
from indexing.api.serializers import SearchAnswerSerializer, SearchResultSerializer
from indexing.mcp.answers import FoundSection, SearchAnswer
from indexing.mcp.passages import MOST_CHARACTERS, lines_of
from projects.access import OPERATOR
from projects.models import Membership
from tests import factories
from tests.indexing.assistant import in_this_process, make_scene, refusal, text_of
from tests.indexing.harbour import HARBOUR, make_harbour
from tests.site.running import PATIENCE, Site, migrated_site

TOOLS = {"search", "look_up_term", "get_document", "get_section", "list_documents", "index_status"}
SCENE = """
from projects.choices import Role
from tests import factories
from tests.indexing.harbour import make_harbour
from tests.indexing.working import make_indexed
harbour = factories.make_project("Harbour")
factories.make_member(harbour, Role.VIEWER, factories.make_user("vera"))
make_harbour(harbour, "guide/harbour.md")
factories.make_entry(harbour, "pilot", definition="Guides ships.", aliases=["水先人"])
make_indexed(harbour, "案内/港.md", "# 港\\n\\n水先人は船を港へ案内する。\\n")
make_harbour(factories.make_project("Elsewhere"), "secret.md")
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with migrated_site(tmp_path_factory.mktemp("mcp") / "data") as site:
        site.ask(SCENE)
        yield site


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), "mcp", *arguments]


@asynccontextmanager
async def connected(site: Site, log: Path, *arguments: str):
    program, *rest = command(*arguments)
    server = StdioServerParameters(command=program, args=rest, env=site.environment, cwd=ROOT)
    with log.open("w") as errors:
        async with Client(stdio_client(server, errlog=errors)) as client:
            yield client


@pytest.mark.xdist_group("processes")
class TestRealProcess:
    async def test_an_assistant_finds_and_reads(self, site, tmp_path):
        log = tmp_path / "log"
        async with connected(site, log, "--as", "vera") as client:
            assert "read-only" in client.instructions
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == TOOLS
            for tool in tools.values():
                assert tool.description
                assert tool.annotations.read_only_hint
                assert tool.output_schema["properties"]

            answer = await client.call_tool("search", {"query": "pilot", "mode": "lexical"})
            assert not answer.is_error
            (found,) = answer.structured_content["results"]
            assert found["documentPath"] == "guide/harbour.md"
            assert found["indexStatus"] == "latest"
            assert "guide/harbour.md" in text_of(answer)
            assert "Harbour › Pilots [latest]" in text_of(answer)

            answer = await client.call_tool("get_section", {"section_id": found["sectionId"]})
            section = answer.structured_content
            assert "A pilot guides ships" in section["content"]
            assert "High water" not in section["content"]
            assert (section["heading"], section["isLatest"]) == ("Pilots", True)
            assert section["lineStart"] == found["lineStart"]

            answer = await client.call_tool("get_document", {"path": "案内/港.md"})
            assert "水先人は船を港へ案内する。" in text_of(answer)

            answer = await client.call_tool("look_up_term", {"term": "水先人"})
            (entry,) = answer.structured_content["entries"]
            assert (entry["term"], entry["definition"]) == ("pilot", "Guides ships.")
            assert "terms of the glossary: pilot" in text_of(
                await client.call_tool("search", {"query": "pilot", "mode": "lexical"})
            )

            answer = await client.call_tool("list_documents", {})
            paths = [row["documentPath"] for row in answer.structured_content["documents"]]
            assert paths == ["guide/harbour.md", "案内/港.md"]

            answer = await client.call_tool("index_status", {})
            (state,) = answer.structured_content["projects"]
            assert (state["projectName"], state["upToDate"], state["pending"]) == ("Harbour", 2, 0)

            wrong = await refusal(client, "get_document", path="secret.md")
            assert wrong == "There is no such document. list_documents shows those there are."
        assert log.read_text() == ""

    def test_nothing_but_the_protocol_on_standard_output(self, site):
        """As an older client speaks, byte by byte; then it is told to end."""
        server = subprocess.Popen(
            command(),
            env={**site.environment, "GLOSSARY_LOG_LEVEL": "DEBUG"},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with server:

            def say(line: object) -> None:
                server.stdin.write(f"{json.dumps(line, ensure_ascii=False)}\n")
                server.stdin.flush()

            say(HELLO)
            answers = [json.loads(server.stdout.readline())]
            say({"jsonrpc": "2.0", "method": "notifications/initialized"})
            say("not what the protocol knows")
            say(call(2, "search", query="水先人", mode="lexical"))
            answers.append(json.loads(server.stdout.readline()))
            say(call(3, "search", query="x", limit=0))
            answers.append(json.loads(server.stdout.readline()))
            began = time.monotonic()
            server.send_signal(signal.SIGINT)
            rest, log = server.communicate(timeout=PATIENCE)
        assert time.monotonic() - began < 5
        assert server.returncode == -signal.SIGINT
        assert [answer["id"] for answer in answers] == [1, 2, 3]
        assert answers[0]["result"]["serverInfo"]["name"] == "glossary-site"
        assert "案内/港.md" in answers[1]["result"]["content"][0]["text"]
        assert answers[2]["result"]["isError"]
        assert rest == ""
        assert "Traceback" not in log


def call(number: int, tool: str, **arguments) -> dict:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.mark.usefixtures("threads_close")
class TestTools:
    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    async def test_the_search_is_that_of_the_api(self, mode):
        project = await make_scene()
        async with in_this_process(OPERATOR, mode) as client:
            answer = await client.call_tool(
                "search",
                {
                    "query": "harbour",
                    "project": project.pk,
                    "mode": "lexical",
                    "depth": [1],
                    "path": ["*.md"],
                    "exclude_path": ["old/"],
                    "index_status": "latest_only",
                    "limit": 5,
                    "offset": 0,
                },
            )
        (found,) = answer.structured_content["results"]
        assert found["heading"] == "Harbour"
        assert set(FoundSection.model_fields) == set(SearchResultSerializer().fields)
        assert set(SearchAnswer.model_fields) == set(SearchAnswerSerializer().fields)

    async def test_why_not_in_one_sentence(self):
        await make_scene()

        @sync_to_async
        def another() -> None:
            make_harbour(factories.make_project("Copy"))

        await another()
        async with in_this_process(OPERATOR) as client:
            for tool, arguments, sentence in (
                ("search", {}, "query: Field required"),
                ("search", {"query": "x", "limit": 101}, "limit: "),
                ("search", {"query": "x", "mode": "magic"}, "mode: "),
                ("search", {"query": "x", "paths": ["a"]}, "search does not take paths; it takes"),
                ("search", {"query": "x", "project": "Nowhere"}, "There is no project “Nowhere”"),
                ("search", {"query": "x", "path": ["!"]}, "This is not a path pattern"),
                ("search", {"query": "x\0y"}, "An argument has a NUL character."),
                ("get_document", {}, "Name the document by its path or by its id."),
                ("get_document", {"path": "x", "document_id": 1}, "Name the document by its path"),
                ("get_document", {"path": "nowhere.md"}, "There is no such document."),
                ("get_document", {"path": "harbour.md"}, "Several projects have this document"),
                (
                    "get_document",
                    {"path": "harbour.md", "project": "harbour", "first_line": 99},
                    "The text has lines 1 to 14",
                ),
                ("get_section", {"section_id": 10**9}, "There is no such section."),
                ("get_section", {"section_id": 10**30}, "section_id: "),
                ("index_status", {"project": "Nowhere"}, "There is no project “Nowhere”"),
                ("look_up_term", {}, "term: Field required"),
                ("look_up_term", {"term": ""}, "term: "),
                ("look_up_term", {"term": "x" * 201}, "term: "),
                (
                    "look_up_term",
                    {"term": "x", "project": "Nowhere"},
                    "There is no project “Nowhere”",
                ),
            ):
                assert (await refusal(client, tool, **arguments)).startswith(sentence)

    async def test_rights_are_looked_up_with_each_question(self, project, viewer):
        await sync_to_async(make_harbour)(project)
        wish = {"query": "pilot", "mode": "lexical"}
        async with in_this_process(viewer) as client:
            before = await client.call_tool("search", wish)
            await Membership.objects.filter(user=viewer).adelete()
            after = await client.call_tool("search", wish)
        totals = [answer.structured_content["total"] for answer in (before, after)]
        assert totals == [1, 0]

    async def test_a_section_of_a_text_that_was_replaced(self):
        project = await make_scene()
        await sync_to_async(factories.make_document)(project, "harbour.md", "# New\n")
        async with in_this_process(OPERATOR) as client:
            answer = await client.call_tool("search", {"query": "pilot", "mode": "lexical"})
            (found,) = answer.structured_content["results"]
            assert "[updating]" in text_of(answer)
            answer = await client.call_tool("get_section", {"section_id": found["sectionId"]})
            assert "A pilot guides ships" in answer.structured_content["content"]
            assert not answer.structured_content["isLatest"]
            assert "newer text" in text_of(answer)
            answer = await client.call_tool("get_document", {"path": "harbour.md"})
            assert answer.structured_content["content"] == "# New"

    async def test_a_section_with_all_below_it(self):
        await make_scene()
        async with in_this_process(OPERATOR) as client:
            found = await client.call_tool("search", {"query": "cargo", "mode": "lexical"})
            section_id = found.structured_content["results"][0]["sectionId"]
            contents = [
                (
                    await client.call_tool(
                        "get_section", {"section_id": section_id, "with_subsections": below}
                    )
                ).structured_content["content"]
                for below in (False, True)
            ]
        assert "A pilot" not in contents[0]
        assert contents[1] == HARBOUR.rstrip("\n")

    async def test_a_long_document_in_pieces(self):
        project = await make_scene()
        text = "".join(f"Line {n}: {'x' * (n % 300)}\n" for n in range(1, 1001))
        await sync_to_async(factories.make_document)(project, "long.md", text)
        pieces = []
        line = 1
        async with in_this_process(OPERATOR) as client:
            while line:
                answer = await client.call_tool(
                    "get_document", {"path": "long.md", "first_line": line}
                )
                passage = answer.structured_content
                assert len(passage["content"]) <= MOST_CHARACTERS
                pieces.append(passage["content"])
                line = passage["nextLine"]
                assert ("Cut short." in text_of(answer)) == bool(line)
        assert len(pieces) > 2
        assert "\n".join(pieces) == text.rstrip("\n")

    async def test_lists_narrowed_and_in_pages(self):
        project = await make_scene()
        for path in ("guide/a.md", "guide/b.md", "Guide/c.md"):
            await sync_to_async(factories.make_document)(project, path)
        async with in_this_process(OPERATOR) as client:

            async def paths(**arguments) -> list[str]:
                answer = await client.call_tool("list_documents", arguments)
                rows = answer.structured_content["documents"]
                return [row["documentPath"] for row in rows]

            assert await paths(folder="guide/") == ["guide/a.md", "guide/b.md"]
            assert await paths(folder="guide/", limit=1, offset=1) == ["guide/b.md"]
            assert await paths(contains="harb") == ["harbour.md"]
            answer = await client.call_tool("list_documents", {"folder": "guide/"})
            states = {row["indexStatus"] for row in answer.structured_content["documents"]}
            assert states == {"updating"}

    async def test_a_fault_of_ours_is_not_shown_to_the_assistant(self, monkeypatch, caplog):
        def broken(options):
            raise RuntimeError("the password is swordfish")

        monkeypatch.setattr("indexing.mcp.tools.search", broken)
        async with in_this_process(OPERATOR) as client:
            assert await refusal(client, "search", query="x") == "Error executing tool search"
        assert "swordfish" in caplog.text


class TestLines:
    def test_one_line_that_is_too_long_is_cut(self):
        lines = lines_of("x" * (MOST_CHARACTERS + 5) + "\nnext", 1, None)
        assert (len(lines.content), lines.last, lines.next) == (MOST_CHARACTERS, 1, 2)

    def test_an_empty_text_has_one_line(self):
        assert lines_of("", 1, None).content == ""

    @pytest.mark.parametrize(("first", "last"), [(0, 1), (3, 2), (4, None)])
    def test_lines_that_are_not_there(self, first, last):
        with pytest.raises(Refusal):
            lines_of("a\nb\nc\n", first, last)
