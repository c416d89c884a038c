"""From the steps through the queue to a server and back: what is asked arrives, what is answered
is read."""

import json
import re

import pytest

from runs.engine import tasks
from runs.pipeline import generate, refine, review
from runs.pipeline.data import Entry, Issue
from tests.llm.working import answers as results
from tests.llm.working import enqueued, work_to_end
from tests.llm_peer.answers import asked as asked_in
from tests.runs.pipeline.harbour import answer, answers, engine_finder, entries, finder, terms

pytestmark = pytest.mark.django_db

QUOTE = "A berth is a place where a ship lies at the quay."


def model(body):
    """A model that reads its prompt: it defines each term by the first passage it is given."""
    words = asked_in(body)
    passages = re.findall(r"«BEGIN term (\d) passage 1 (\w+)»\n(.*?)\n«END", words, re.DOTALL)
    return answers(
        *(answer(f"So: {text}", text, number=int(number)) for number, _, text in passages)
    )


def test_definitions_by_a_model(provider):
    provider.script(model)
    given = terms("berth", "pilot", "停泊地")
    made = list(
        generate.requests(
            list(given.values()), finder(), language="en", builtin=False, most_tokens=8_000
        )
    )
    process = work_to_end(enqueued(made))
    assert process.failed == 0
    found = [
        entry
        for result in results(process)
        for entry in generate.read(result.key, result.data, terms=given, finder=finder())
    ]
    assert [entry.key for entry in found] == list(given)
    for entry in found:
        assert isinstance(entry, Entry)
        assert entry.supported
        assert entry.definition == f"So: {entry.evidence[0].quote}"
    assert len(provider.ledger.charged()) == len(made) == 1
    (body,) = [json.loads(request.body) for request in provider.requests]
    assert body["response_format"]["json_schema"]["strict"] is True


def test_a_review_and_a_second_look_by_a_model(provider):
    given = terms("berth")
    before = generate.read(
        'generate/1:en en ["berth"]',
        answers(answer("A place.", QUOTE)),
        terms=given,
        finder=finder(),
    )
    (entry,) = before
    assert isinstance(entry, Entry)
    issue = {
        "number": 1,
        "kind": "unclear",
        "description": "What place?",
        "suggestion": "",
        "other": None,
        "exclude": False,
    }
    provider.script([json.dumps({"issues": [issue]}), answers(answer("A place to lie.", QUOTE))])
    options = {"language": "en", "builtin": False, "most_tokens": 8_000}
    (result,) = results(work_to_end(enqueued(review.requests([entry], **options))))
    issues = review.read(result.key, result.data, entries=entries(entry))
    assert [each.description for each in issues] == ["What place?"]
    second = refine.requests([entry], issues, finder(), terms=given, **options)
    (result,) = results(work_to_end(enqueued(second)))
    (refined,) = refine.read(
        result.key, result.data, entries=entries(entry), terms=given, finder=finder(), names=()
    )
    assert isinstance(refined, Entry)
    assert refined.definition == "A place to lie."
    assert refined.prompt_version == "refine/2:en"


def test_the_whole_way_without_a_model():
    assert tasks
    given = terms("berth", "harbour master", "tug")
    options = {"language": "en", "builtin": True, "most_tokens": 8_000}
    asked_for = generate.requests(list(given.values()), engine_finder(), **options)
    process = work_to_end(enqueued(asked_for))
    assert process.failed == 0, [result.error for result in results(process)]
    made = {}
    for result in results(process):
        for entry in generate.read(result.key, result.data, terms=given, finder=engine_finder()):
            assert isinstance(entry, Entry)
            made[entry.key] = entry
    assert "place where a ship lies" in made["berth"].definition
    assert made["berth"].evidence[0].line_start == 3
    assert made["berth"].prompt_version == "builtin/1"
    assert not made["berth"].needs_review
    # Nothing in the documents says what a tug is.
    assert made["tug"].needs_review
    assert made["tug"].supported

    (result,) = results(work_to_end(enqueued(review.requests(list(made.values()), **options))))
    # That it needs a review is said in the entry, not a second time.
    assert review.read(result.key, result.data, entries=made) == []
    issues = [Issue("tug", "missing_relation", "It works at a berth.", other_key="berth")]
    second = refine.requests(list(made.values()), issues, engine_finder(), terms=given, **options)
    for result in results(work_to_end(enqueued(second))):
        for entry in refine.read(
            result.key, result.data, entries=made, terms=given, finder=engine_finder(), names=()
        ):
            assert isinstance(entry, Entry)
            assert entry.definition == made[entry.key].definition
