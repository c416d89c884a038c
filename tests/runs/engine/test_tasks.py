"""The built-in engine answers as a model would: in the same shape, to the same requests."""

import json
import re
from typing import Any

import pytest

from glossary_site.llm.builtin import answer as builtin_answer
from glossary_site.llm.requests import decode, encode
from glossary_site.llm.structured import read as read_by_schema
from runs.engine import tasks
from runs.engine.definitions import define
from runs.pipeline import extract, generate, refine, review
from runs.pipeline.data import Entry, Issue, TermLists
from runs.pipeline.plan import request_key
from tests.runs.pipeline.harbour import (
    DOCUMENTS,
    candidate,
    engine_finder,
    entries,
    entry,
    evidence,
    term,
    terms,
)

OPTIONS: Any = {"language": "en", "builtin": True, "most_tokens": 8_000}


def answered(request):
    """As the queue does it: by way of JSON, and checked against the schema."""
    assert tasks
    kept = decode(encode(request))
    return read_by_schema(json.dumps(builtin_answer(kept)), kept.schema)


def test_classes_are_those_of_the_extraction():
    given = [
        candidate("berth", (1, 3), category="technical_term"),
        candidate("day", (1, 3), category="common_noun", excluded_because="Everyday word."),
    ]
    (request,) = extract.classify_requests(given, DOCUMENTS, categories={}, **OPTIONS)
    assert extract.read_classes(request.key, answered(request), categories={}) == {
        "berth": extract.Class("technical_term", True),
        "day": extract.Class("common_noun", False, "Everyday word."),
    }


def defined(*names: str) -> list[Entry]:
    given = terms(*names)
    results = []
    for request in generate.requests(list(given.values()), engine_finder(), **OPTIONS):
        found = generate.read(request.key, answered(request), terms=given, finder=engine_finder())
        results += [each for each in found if isinstance(each, Entry)]
    assert [each.key for each in results] == list(given)
    return results


def test_a_definition_of_the_documents():
    (berth,) = defined("berth")
    assert "place where a ship lies at the quay" in berth.definition
    assert berth.supported
    assert not berth.needs_review
    assert (berth.evidence[0].path, berth.evidence[0].line_start) == ("guide.md", 3)
    assert berth.prompt_version == "builtin/1"


def test_a_definition_in_japanese():
    (berth,) = defined("停泊地")
    assert "泊まる場所" in berth.definition
    assert (berth.evidence[0].path, berth.evidence[0].line_start) == ("ja.md", 3)


def test_without_a_definition_there_is_an_honest_example_of_use():
    (tug,) = defined("tug")
    assert tug.needs_review
    assert tug.confidence < 0.5
    assert tug.supported


def test_a_review_reports_in_the_project_s_language_and_knows_what_is_required():
    given = [
        entry("day", "The time between two midnights.", category="common_noun"),
        entry("tide", "The rise and fall of the sea, twice a day.", category="common_noun"),
        entry("tug", "A boat."),
    ]
    lists = TermLists(required={"day": "day"})
    (request,) = review.requests(given, lists=lists, **OPTIONS)
    issues = review.read(request.key, answered(request), entries=entries(*given), lists=lists)
    assert [(each.key, each.kind, each.exclude) for each in issues] == [
        ("tide", "unnecessary", True),
        ("tug", "unclear", False),
    ]


@pytest.mark.parametrize("embedder", ["none", "wordllama"])
def test_a_review_works_with_and_without_vectors(settings, embedder):
    settings.EMBEDDER = embedder
    given = [
        entry("message queue", "A buffer that holds messages until a reader takes them."),
        entry("MQ", "Until a reader takes them, messages are held in this buffer."),
    ]
    (request,) = review.requests(given, **OPTIONS)
    issues = review.read(request.key, answered(request), entries=entries(*given))
    assert len(issues) == (embedder != "none")


def refined(given: Entry, *issues: Issue, others: tuple[Entry, ...] = ()):
    everything = [given, *others]
    (request,) = [
        request
        for request in refine.requests(everything, issues, engine_finder(), terms={}, **OPTIONS)
        if request.inputs["entry"]["key"] == given.key
    ]
    (result,) = refine.read(
        request.key,
        answered(request),
        entries=entries(*everything),
        terms={},
        finder=engine_finder(),
        names=refine.names_of(everything),
    )
    return result


QUOTE = "A berth is a place where a ship lies at the quay."
BERTH = entry(
    "berth",
    QUOTE,
    related=("pilot",),
    evidence=(evidence(DOCUMENTS[0], 3, QUOTE),),
    prompt_version="builtin/1",
)
QUAY = entry("quay", "The wall at which ships lie.")


def test_a_second_look_adds_relations_and_keeps_the_evidence():
    issue = Issue("berth", "missing_relation", "Uses it.", other_key="quay")
    result = refined(BERTH, issue, others=(QUAY,))
    assert result.related == ("pilot", "quay")
    assert result.definition == QUOTE
    assert [(each.line_start, each.quote) for each in result.evidence] == [(3, QUOTE)]
    assert result.confidence == BERTH.confidence


def test_a_second_look_takes_over_the_names_of_a_duplicate():
    other = entry("mooring", "A place to lie.", aliases=("lying place", "berth"))
    issue = Issue("mooring", "duplicate", "The same.", other_key="berth")
    result = refined(BERTH, issue, others=(other,))
    assert result.aliases == ("mooring", "lying place")


def test_what_needs_a_look_is_the_same_before_and_after_reading():
    text = " ".join(each.text for each in DOCUMENTS)
    names = dict.fromkeys(re.findall(r"[A-Za-z]{3,}|[一-龠]{2,}", text))
    given = {each.key: each for each in map(term, names)}
    using = engine_finder()
    for one in given.values():
        before = define(one, using.contexts(one), language="en")
        key = request_key([one.key], version="builtin/1", language="en")
        (request,) = generate.requests([one], using, **OPTIONS)
        assert request.key == key
        (after,) = generate.read(key, answered(request), terms=given, finder=using)
        assert isinstance(after, Entry)
        assert (after.definition, after.aliases) == (before.definition, before.aliases)
        if after.supported:
            assert after.needs_review == before.needs_review
            assert after.evidence == before.evidence


def test_a_second_look_at_what_it_cannot_mend_changes_nothing():
    assert refined(BERTH, Issue("berth", "unclear", "What place?")) == BERTH
    used = entry("tug", "Used in: a tug.", needs_review=True, confidence=0.2, supported=False)
    assert refined(used, Issue("tug", "unclear", "Only used.")) == used
