"""What every embedder is: something that makes vectors of texts, the near ones for what is near."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Check = Callable[[], object]


class EmbedderUnavailable(Exception):
    """No vectors can be had now. The sentence is for people and says what to do."""

    def __init__(self, sentence: str, *, later: float | None = None) -> None:
        super().__init__(sentence)
        # Trying again before so many seconds have passed is of no use.
        self.later = later


def never(*args: object) -> None:
    """For `check`: nobody wants to stop."""


class Embedder(Protocol):
    """Every method that makes vectors may raise `EmbedderUnavailable`."""

    # Whether texts stay on this machine.
    local: bool
    # Whether it is quick enough to be asked while a document waits to be found.
    at_once: bool

    @property
    def key(self) -> str:
        """The same for vectors that can be compared with each other, and for no others."""

    @property
    def dimensions(self) -> int: ...

    @property
    def problem(self) -> str:
        """Why it makes no vectors, as far as can be told without asking it; else empty."""

    def embed(self, texts: Sequence[str], *, check: Check = never) -> Vectors:
        """A row of length 1 for each text, or of zeros where it says nothing. `check` is called
        every second or so, and stops the work by raising."""

    def embed_query(self, text: str) -> Vectors:
        """One row, for somebody who waits: soon, or not at all."""

    def weight(self, language: str) -> float:
        """The share of the vectors in a mixed score, for a query in this language."""


def unit_rows(sums: Vectors) -> Vectors:
    """In place: every row of length 1, but for those of zeros."""
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    sums /= lengths
    return sums
