"""Which embedder a project gets, and what an endpoint is called."""

import time

import numpy as np
import pytest

from glossary_site.llm.models import EmbeddingCall, Provider, Spending
from glossary_site.llm.services import budgets
from glossary_site.llm.services.budgets import Caps
from glossary_site.outbound.allowed import parse_allowed
from indexing.embedders import openai
from indexing.embedders.base import EmbedderUnavailable
from indexing.embedders.registry import EMBEDDERS, embedder_for, embedder_of_key
from indexing.embedders.weights import WEIGHTS
from indexing.models import ProjectIndex
from tests.llm_server import running_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def server():
    with running_server() as server:
        yield server


@pytest.fixture
def endpoint(server, settings, monkeypatch):
    settings.LLM = {**settings.LLM, "base_url": server.base_url, "model": "peer-small"}
    settings.LLM_BACKOFF_SECONDS = 0.01
    settings.EMBEDDER = "openai"
    settings.EMBEDDING_MODEL = "peer-embed"
    monkeypatch.setattr(openai, "_memory", openai.Memory())
    return server


def choose(project, kind: str) -> None:
    ProjectIndex.objects.update_or_create(project=project, defaults={"chosen_embedder": kind})


@pytest.mark.parametrize("kind", EMBEDDERS)
def test_the_site_chooses_where_a_project_does_not(project, settings, kind):
    settings.EMBEDDER = kind
    found = embedder_for(project.pk)
    assert (found is None) == (kind == "none")
    choose(project, "none")
    assert embedder_for(project.pk) is None
    choose(project, "wordllama")
    assert embedder_for(project.pk).key == "wordllama-256"


@pytest.mark.parametrize("kind", ["wordllama", "minilm"])
def test_local_ones_are_found_by_their_key(project, settings, kind):
    settings.EMBEDDER = kind
    embedder = embedder_for(project.pk)
    assert embedder.local
    assert embedder_of_key(embedder.key, project.pk) is embedder


@pytest.mark.parametrize("key", ["", "none", "wordllama-512", "openai:", "openai:x@000000000000"])
def test_other_keys_are_nobodys(project, key):
    assert embedder_of_key(key, project.pk) is None


def test_weights_are_shares():
    for by_language in WEIGHTS.values():
        assert by_language.keys() == {"en", "ja"}
        assert all(0 <= weight < 1 for weight in by_language.values())


def test_a_language_without_a_weight_counts_as_english(project):
    choose(project, "minilm")
    embedder = embedder_for(project.pk)
    assert embedder.weight("de") == embedder.weight("en") > embedder.weight("ja") == 0


def test_an_endpoint_embeds_and_is_paid_by_the_project(project, endpoint):
    embedder = embedder_for(project.pk)
    assert not embedder.local
    assert embedder.problem == ""
    vectors = embedder.embed(["the harbour master", "", "the harbour fee"])
    assert vectors.shape == (3, 64)
    assert not vectors[1].any()
    assert embedder.dimensions == 64
    assert len(endpoint.requests) == 1
    assert Spending.objects.get(scope=project.stream).used_tokens > 0
    assert np.allclose(embedder.embed_query("the harbour fee"), vectors[2])


def test_dimensions_are_asked_for_where_nobody_knows_them(project, endpoint):
    embedder = embedder_for(project.pk)
    assert embedder.embed(["", " "]).shape == (2, 64)
    assert embedder.dimensions == 64
    assert len(endpoint.requests) == 1


def test_the_key_tells_models_and_servers_apart_and_names_no_host(project, endpoint, settings):
    first = embedder_for(project.pk)
    assert first.key == embedder_for(project.pk).key
    assert first.key.startswith("openai:peer-embed@")
    assert "127.0.0.1" not in first.key
    settings.EMBEDDING_MODEL = "peer-large"
    second = embedder_for(project.pk)
    assert second.key != first.key
    # Its vectors can still be searched, until those of the other are there.
    still = embedder_of_key(first.key, project.pk)
    assert still.key == first.key
    still.embed_query("berth")
    assert endpoint.requests[-1].json["model"] == "peer-embed"
    settings.LLM = {**settings.LLM, "base_url": "http://127.0.0.1:1/v1"}
    assert embedder_for(project.pk).key not in (first.key, second.key)
    assert embedder_of_key(first.key, project.pk) is None


def test_a_project_with_a_server_of_its_own_uses_that(project, endpoint, settings):
    before = embedder_for(project.pk).key
    with running_server() as own:
        settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])
        Provider.objects.create(
            scope=project.stream, kind="openai", base_url=own.base_url, model="peer-small"
        )
        embedder = embedder_for(project.pk)
        assert embedder.key != before
        embedder.embed(["berth"])
        assert len(own.requests) == 1
    assert endpoint.requests == []


def test_without_a_server_it_says_what_to_do(project, settings):
    settings.EMBEDDER = "openai"
    embedder = embedder_for(project.pk)
    assert "provider" in embedder.problem
    with pytest.raises(EmbedderUnavailable, match="provider"):
        embedder.embed(["berth"])
    with pytest.raises(EmbedderUnavailable, match="provider"):
        embedder.embed_query("berth")


def test_a_used_up_budget_is_a_sentence_too(project, endpoint):
    budgets.set_caps(scope="site", caps=Caps(tokens=1), actor="tests")
    with pytest.raises(EmbedderUnavailable, match="budget"):
        embedder_for(project.pk).embed(["the harbour master collects the fee"])
    assert endpoint.requests == []
    assert not EmbeddingCall.objects.exists()


def test_searches_do_not_wait_again_and_again_for_a_server_that_is_away(
    project, endpoint, monkeypatch
):
    monkeypatch.setattr(openai, "QUERY_SECONDS", 0.4)
    endpoint.faults.add("hold")
    embedder = embedder_for(project.pk)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("berth")
    seen = len(endpoint.requests)
    began = time.monotonic()
    with pytest.raises(EmbedderUnavailable):
        embedder_for(project.pk).embed_query("another")
    assert time.monotonic() - began < 0.3
    assert len(endpoint.requests) == seen
    endpoint.faults.clear()
    # Work in the background goes on trying, and its success is good news for searches.
    embedder.embed(["berth"])
    assert embedder.embed_query("another").any()


def test_a_server_whose_model_has_changed_does_not_mix_vectors(project, endpoint):
    embedder = embedder_for(project.pk)
    embedder.embed(["berth"])
    endpoint.configure(dimensions=32)
    with pytest.raises(EmbedderUnavailable, match="same model"):
        embedder.embed(["quay"])
