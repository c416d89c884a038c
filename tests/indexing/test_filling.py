"""Vectors that come later: an endpoint's, and another embedder's after a change."""

import pytest

from glossary_site.errors import Refusal
from glossary_site.jobs.models import JobRun
from indexing.choices import Mode
from indexing.embedders import openai
from indexing.embedders.base import EmbedderUnavailable
from indexing.embedders.registry import embedder_for
from indexing.models import ProjectIndex, SectionVector
from indexing.services import filling
from indexing.services.drain import take_turn
from indexing.services.settings import choose_embedder
from indexing.services.status import index_status
from indexing.services.waking import FILL
from tests import factories
from tests.indexing.working import TEXT, ask, index, make_indexed, paths
from tests.llm_server import running_server


@pytest.fixture
def endpoint(settings, monkeypatch):
    with running_server() as server:
        settings.LLM = {**settings.LLM, "base_url": server.base_url, "model": "peer-small"}
        settings.LLM_BACKOFF_SECONDS = 0.01
        settings.LLM_ATTEMPTS = 2
        settings.EMBEDDING_MODEL = "peer-embed"
        monkeypatch.setattr(openai, "_memory", openai.Memory())
        yield server


def fill(project) -> dict:
    return filling.fill(project.pk, check=bool, progress=lambda current, total: None)


def embedders(project) -> set[str]:
    rows = SectionVector.objects.filter(section__project=project)
    return {key.partition("@")[0] for key in rows.values_list("embedder", flat=True)}


def serving(project) -> str:
    return ProjectIndex.objects.get(pk=project.pk).serving_embedder.partition("@")[0]


def test_the_old_vectors_serve_until_the_last_new_one_is_there(project, owner, endpoint):
    make_indexed(project, "a.md")
    choose_embedder(project=project, choice="openai", actor=owner)

    assert serving(project) == "wordllama-256"
    assert ask(project, "who guides ships", mode=Mode.VECTOR).results
    status = index_status(project)
    assert status.switching
    assert status.sections_without_vector == 3

    assert fill(project) == {"filled": 3, "removed": 3}

    assert serving(project) == "openai:peer-embed"
    assert embedders(project) == {"openai:peer-embed"}
    assert ask(project, "who guides ships", mode=Mode.VECTOR).results
    assert not index_status(project).switching


def test_a_text_is_found_before_the_endpoint_was_asked(project, settings, endpoint):
    settings.EMBEDDER = "openai"
    make_indexed(project, "a.md")

    assert paths(ask(project, "pilot", mode=Mode.LEXICAL))[0] == "a.md"
    assert JobRun.objects.filter(kind=FILL, scope=project.stream).count() == 1
    page = ask(project, "pilot", mode=Mode.VECTOR)
    assert page.results == []
    assert "being made" in page.notices[0]

    fill(project)
    assert paths(ask(project, "pilot", mode=Mode.VECTOR))[0] == "a.md"


def test_texts_written_during_a_change_are_found_by_both(project, owner, endpoint):
    make_indexed(project, "a.md")
    choose_embedder(project=project, choice="openai", actor=owner)
    make_indexed(project, "b.md", TEXT.replace("pilot", "navigator"))

    assert "b.md" in paths(ask(project, "navigators", mode=Mode.VECTOR))
    fill(project)
    assert "b.md" in paths(ask(project, "navigators", mode=Mode.VECTOR))


def test_what_has_a_vector_is_not_asked_for_again(project, settings, endpoint):
    settings.EMBEDDER = "openai"
    make_indexed(project, "a.md")
    fill(project)
    asked = len(endpoint.requests)
    assert fill(project) == {"filled": 0, "removed": 0}
    make_indexed(project, "a.md", TEXT.replace("twice a day", "at noon"))
    assert fill(project)["filled"] == 1
    assert len(endpoint.requests) == asked + 1


def test_an_endpoint_that_is_away_leaves_the_words_and_says_so(project, settings, endpoint):
    settings.EMBEDDER = "openai"
    make_indexed(project, "a.md")
    fill(project)
    endpoint.faults.add("server_error")

    page = ask(project, "who guides the ships at night")
    assert paths(page)[0] == "a.md"
    assert "Only words were searched" in page.notices[0]
    make_indexed(project, "b.md", "# B\n\nA text that nobody has embedded so far.\n")
    with pytest.raises(EmbedderUnavailable):
        fill(project)
    assert serving(project) == "openai:peer-embed"
    assert paths(ask(project, "embedded", mode=Mode.LEXICAL)) == ["b.md"]


def test_none_switches_meaning_off(project, owner):
    make_indexed(project, "a.md")
    choose_embedder(project=project, choice="none", actor=owner)
    assert embedder_for(project.pk) is None
    page = ask(project, "who guides ships", mode=Mode.VECTOR)
    assert page.results == []
    assert page.notices
    assert fill(project) == {"filled": 0}


def test_back_again_is_filled_from_what_was_missed(project, owner):
    make_indexed(project, "a.md")
    choose_embedder(project=project, choice="none", actor=owner)
    factories.make_document(project, "b.md", TEXT)
    index(project)
    choose_embedder(project=project, choice="", actor=owner)
    fill(project)
    assert set(paths(ask(project, "who guides ships", mode=Mode.VECTOR))) == {"a.md", "b.md"}


def test_an_embedder_nobody_knows_is_refused(project, owner):
    with pytest.raises(Refusal) as refusal:
        choose_embedder(project=project, choice="oracle", actor=owner)
    assert refusal.value.code == "unknown_embedder"


def test_who_changes_their_mind_in_the_middle_gets_what_they_want_last(
    project, owner, endpoint, monkeypatch
):
    """The job that is still at the work of before makes no more of it, lets nothing of it serve,
    and takes nothing away."""
    make_indexed(project, "a.md")
    choose_embedder(project=project, choice="openai", actor=owner)
    monkeypatch.setattr(filling, "BATCH", 1)
    checks = 0

    def change_back() -> None:
        nonlocal checks
        checks += 1
        if checks == 2:
            choose_embedder(project=project, choice="wordllama", actor=owner)

    told = []
    filling.fill(
        project.pk, check=change_back, progress=lambda current, total: told.append(current)
    )

    assert told == [1]
    assert serving(project) == "wordllama-256"
    assert "wordllama-256" in embedders(project)
    assert fill(project)["filled"] == 0
    assert embedders(project) == {"wordllama-256"}


def test_a_turn_that_began_before_the_change_leaves_nothing_without_a_vector(
    project, owner, endpoint
):
    make_indexed(project, "a.md")
    factories.make_document(project, "b.md", TEXT)
    JobRun.objects.filter(kind=FILL).delete()

    def change_and_fill(tally) -> None:
        choose_embedder(project=project, choice="openai", actor=owner)
        JobRun.objects.filter(kind=FILL).delete()

    take_turn(project.pk, check=bool, done=change_and_fill)

    assert JobRun.objects.filter(kind=FILL, scope=project.stream).exists()
