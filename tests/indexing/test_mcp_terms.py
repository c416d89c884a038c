"""What an assistant is told about the terms of a glossary."""

import pytest
from asgiref.sync import sync_to_async

from projects.access import OPERATOR
from projects.exports.data import EntryData
from projects.models import Document, Membership, Project
from projects.services.glossary import publish_entries
from projects.terms.keys import key_of
from tests import factories
from tests.indexing.assistant import in_this_process, make_scene, refusal, text_of


@sync_to_async
def publish(project: Project, *entries: EntryData) -> None:
    publish_entries(project=project, entries=entries, run_id=1, actor=OPERATOR)


def entry_data(term: str, **fields) -> EntryData:
    usual = {"key": key_of(term), "reading": term, "language": "en", "definition": "What it is."}
    return EntryData(term=term, **(usual | fields))


def evidence(document: Document, **fields) -> dict:
    usual = {
        "document_id": document.pk,
        "path": document.path,
        "file_hash": document.file_hash,
        "line_start": 8,
        "line_end": 9,
        "heading_path": ["Harbour", "Pilots"],
        "quote": "A pilot guides ships\nthrough the narrow channel.",
    }
    return usual | fields


@pytest.mark.usefixtures("threads_close")
class TestTerms:
    async def test_everything_that_is_known_of_a_term(self):
        project = await make_scene()
        document = await Document.objects.aget()
        await publish(
            project,
            entry_data(
                "harbour pilot",
                definition="Guides ships.",
                aliases=["pilot"],
                related=["buoy"],
                confidence=0.75,
                needs_review=True,
                evidence=[
                    evidence(document),
                    evidence(document, file_hash="0" * 64, quote="Older words."),
                    evidence(document, document_id=10**6, path="gone.md", quote="Lost."),
                ],
            ),
        )
        async with in_this_process(OPERATOR) as client:
            answer = await client.call_tool(
                "look_up_term", {"term": "Pilots", "project": "Harbour"}
            )
        (entry,) = answer.structured_content["entries"]
        assert entry["term"] == "harbour pilot"
        assert entry["definition"] == "Guides ships."
        assert (entry["aliases"], entry["related"]) == (["pilot"], ["buoy"])
        assert (entry["confidence"], entry["needsReview"]) == (0.75, True)
        here, older, gone = entry["evidence"]
        assert here == {
            "documentId": document.pk,
            "documentPath": "harbour.md",
            "lineStart": 8,
            "lineEnd": 9,
            "headingPath": ["Harbour", "Pilots"],
            "quote": "A pilot guides ships\nthrough the narrow channel.",
            "isLatest": True,
        }
        assert (older["documentId"], older["isLatest"]) == (document.pk, False)
        assert (gone["documentId"], gone["documentPath"]) == (None, "gone.md")
        assert answer.structured_content["nearest"] == []
        text = text_of(answer)
        assert "Guides ships." in text
        assert "nobody has reviewed it" in text
        assert "- harbour.md, lines 8-9: A pilot guides ships through the narrow channel." in text
        assert "[the document has changed since]: Older words." in text
        assert "[the document is gone]: Lost." in text

    async def test_a_term_that_no_glossary_has(self):
        project = await make_scene()
        async with in_this_process(OPERATOR) as client:
            answer = await client.call_tool("look_up_term", {"term": "slipway"})
            assert not answer.is_error
            assert text_of(answer).startswith('The glossary has no term "slipway". Use search')
            await publish(project, *(entry_data(t) for t in ("slip way rail", "slipways", "tide")))
            answer = await client.call_tool("look_up_term", {"term": "slip-wey"})
        assert answer.structured_content["entries"] == []
        near = [row["term"] for row in answer.structured_content["nearest"]]
        assert near == ["slipways", "slip way rail"]
        assert "The nearest it has: slipways (project" in text_of(answer)

    async def test_in_other_kana(self):
        project = await make_scene()
        named = entry_data("水先人", reading="みずさきにん", aliases=["パイロット"])
        await publish(project, named, entry_data("潮"))
        async with in_this_process(OPERATOR) as client:
            for asked in ("みずさきにん", "ミズサキニン", "ぱいろっと", "ﾊﾟｲﾛｯﾄ"):
                answer = await client.call_tool("look_up_term", {"term": asked})
                terms = [row["term"] for row in answer.structured_content["entries"]]
                assert terms == ["水先人"], asked

    async def test_each_project_has_words_of_its_own(self):
        @sync_to_async
        def define(definition: str) -> Project:
            project = factories.make_project(definition)
            factories.make_entry(project, "pilot", definition=definition)
            return project

        sea, air = await define("On ships."), await define("In planes.")
        async with in_this_process(OPERATOR) as client:

            async def meanings(**arguments) -> set[tuple[int, str]]:
                answer = await client.call_tool("look_up_term", {"term": "pilot", **arguments})
                entries = answer.structured_content["entries"]
                return {(entry["projectId"], entry["definition"]) for entry in entries}

            both = {(sea.pk, "On ships."), (air.pk, "In planes.")}
            assert await meanings() == both
            assert await meanings(project=air.pk) == {(air.pk, "In planes.")}

    async def test_only_for_who_may_see_the_project(self, project, viewer):
        await sync_to_async(factories.make_entry)(project, "pilot")
        closed = await sync_to_async(factories.make_project)("Closed")
        await sync_to_async(factories.make_entry)(closed, "pilot boat")
        async with in_this_process(viewer) as client:
            answer = await client.call_tool("look_up_term", {"term": "pilot boat"})
            assert answer.structured_content["entries"] == []
            near = [row["term"] for row in answer.structured_content["nearest"]]
            assert near == ["pilot"]
            wish = {"term": "pilot", "project": closed.pk}
            assert "There is no project" in await refusal(client, "look_up_term", **wish)
            await Membership.objects.filter(user=viewer).adelete()
            answer = await client.call_tool("look_up_term", {"term": "pilot"})
            assert answer.structured_content["entries"] == []
