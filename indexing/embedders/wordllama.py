"""The small one, always there: the mean of a vector for each token, from a table.

The table and its tokenizer come with the package `wordllama`, whose own loader looks for them on
the network.
"""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from django.utils.translation import gettext as _
from safetensors.numpy import load_file

from indexing.embedders.base import Check, EmbedderUnavailable, Vectors, never, unit_rows
from indexing.embedders.files import folder_of, load_tokenizer
from indexing.embedders.llama_tokens import Tokens
from indexing.embedders.weights import weight_of

KIND = "wordllama"
PACKAGE = "wordllama"
DIMENSIONS = 256
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
# The mean of so much text does not move any more.
MOST_CHARACTERS = 8_000
BATCH = 256


class Table:
    def __init__(self, folder: Path) -> None:
        (halves,) = load_file(folder / WEIGHTS).values()
        # Twice the memory, and half the time.
        self.rows: Vectors = halves.astype(np.float32)
        self.tokens = Tokens(load_tokenizer(folder / TOKENIZER))


class WordLlama:
    local = True
    at_once = True
    key = f"wordllama-{DIMENSIONS}"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._loaded: Table | None = None

    @property
    def problem(self) -> str:
        if folder_of(PACKAGE) is not None:
            return ""
        return _("The package “wordllama” is missing. Install the packages of requirements.txt.")

    def embed(self, texts: Sequence[str], *, check: Check = never) -> Vectors:
        table = self._table()
        sums = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for first in range(0, len(texts), BATCH):
            check()
            for row, text in enumerate(texts[first : first + BATCH], first):
                if tidy := clean(text):
                    # Of unit length in the end: the sum is as good as the mean.
                    table.rows.take(table.tokens.of(tidy), axis=0).sum(axis=0, out=sums[row])
        return unit_rows(sums)

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]

    def weight(self, language: str) -> float:
        return weight_of(KIND, language)

    def _table(self) -> Table:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> Table:
        folder = folder_of(PACKAGE)
        if folder is None:
            raise EmbedderUnavailable(self.problem)
        return Table(folder)


def clean(text: str) -> str:
    """Half a pair of surrogates is no text for a tokenizer; a blank one would count as a token."""
    return text[:MOST_CHARACTERS].encode(errors="replace").decode().strip()


@cache
def wordllama() -> WordLlama:
    """One table a process."""
    return WordLlama()
