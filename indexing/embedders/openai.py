"""Vectors from the server of a project or of the site, whatever model it has for them."""

import hashlib
import threading
import time
from collections.abc import Sequence

import numpy as np
from django.conf import settings

from glossary_site.errors import Refusal
from glossary_site.llm.choices import ProviderKind
from glossary_site.llm.providers import ProviderConfig, provider_for
from glossary_site.llm.services import embeddings
from glossary_site.llm.services.embeddings import EmbeddingFailed
from indexing.embedders.base import Check, EmbedderUnavailable, Vectors, never
from indexing.embedders.weights import weight_of
from projects.feed import stream_of

KIND = "openai"
# A person waits so long for the vector of a query.
QUERY_SECONDS = 4.0
# A server that did not answer one is left alone by searches for so long.
AWAY_SECONDS = 30.0
# By which the number of values is learned, where nothing was embedded yet.
ANY_TEXT = "glossary"


class Memory:
    """What this process has seen of servers, by the key of the embedder."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._dimensions: dict[str, int] = {}
        self._away: dict[str, tuple[float, str]] = {}

    def dimensions(self, key: str) -> int | None:
        return self._dimensions.get(key)

    def answered(self, key: str, dimensions: int) -> None:
        with self._lock:
            self._dimensions[key] = dimensions
            self._away.pop(key, None)

    def failed(self, key: str, sentence: str) -> None:
        with self._lock:
            self._away[key] = time.monotonic() + AWAY_SECONDS, sentence

    def why_away(self, key: str) -> str:
        until, sentence = self._away.get(key, (0.0, ""))
        return sentence if time.monotonic() < until else ""


_memory = Memory()


class Endpoint:
    local = False
    at_once = False

    def __init__(self, *, scope: str, config: ProviderConfig, model: str) -> None:
        self._scope = scope
        self._provider = config
        self._model = model

    @property
    def key(self) -> str:
        return key_of(self._provider, self._model)

    @property
    def dimensions(self) -> int:
        """Learned from the first answer; asked for where there was none."""
        return _memory.dimensions(self.key) or self._embed([ANY_TEXT]).shape[1]

    @property
    def problem(self) -> str:
        try:
            embeddings.endpoint(self._provider, model=self._model)
        except EmbeddingFailed as error:
            return str(error)
        return ""

    def embed(self, texts: Sequence[str], *, check: Check = never) -> Vectors:
        vectors = self._embed(texts, check=check)
        if texts and not vectors.shape[1]:
            # No text said anything, so nobody was asked.
            return np.zeros((len(texts), self.dimensions), dtype=np.float32)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        if why := _memory.why_away(self.key):
            raise EmbedderUnavailable(why)
        try:
            return self._embed([text], seconds=QUERY_SECONDS)[0]
        except EmbedderUnavailable as error:
            _memory.failed(self.key, str(error))
            raise

    def weight(self, language: str) -> float:
        return weight_of(KIND, language)

    def _embed(
        self, texts: Sequence[str], *, check: Check = never, seconds: float | None = None
    ) -> Vectors:
        try:
            vectors = embeddings.embed(
                texts,
                scope=self._scope,
                config=embeddings.endpoint(self._provider, model=self._model),
                check=check,
                seconds=seconds,
                dimensions=_memory.dimensions(self.key),
            )
        except EmbeddingFailed as error:
            raise EmbedderUnavailable(str(error), later=error.later) from error
        except Refusal as refusal:
            raise EmbedderUnavailable(str(refusal)) from refusal
        if vectors.shape[1]:
            _memory.answered(self.key, vectors.shape[1])
        return vectors


def endpoint_for(project_id: int) -> Endpoint:
    scope = stream_of(project_id)
    return Endpoint(scope=scope, config=provider_for(scope), model=settings.EMBEDDING_MODEL)


def endpoint_of_key(key: str, project_id: int) -> Endpoint | None:
    """Another model of the same server still answers; another server knows nothing of these
    vectors."""
    scope = stream_of(project_id)
    config = provider_for(scope)
    model = key.removeprefix(f"{KIND}:").rpartition("@")[0]
    if config.kind != ProviderKind.OPENAI or key_of(config, model) != key:
        return None
    return Endpoint(scope=scope, config=config, model=model)


def key_of(config: ProviderConfig, model: str) -> str:
    """A name for the model, and what tells servers apart without naming them."""
    address = hashlib.sha256(f"{config.base_url}?{config.query}".encode()).hexdigest()
    return f"{KIND}:{model}@{address[:12]}"
