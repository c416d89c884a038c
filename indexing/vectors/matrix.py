"""The vectors of a project in memory: one matrix that grows, and views of it that never change.

Rows are only ever added behind the ones that a view shows, and which rows count is copied for each
view: whoever holds a view can go on reading while the next one is made.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from indexing.vectors.reading import Block

# Room for rows to come, without moving the matrix. Memory that is not written to costs nothing.
SPARE_ROWS = 1024
# Dead rows are scanned in vain; fewer than these are not worth moving the others.
MOST_DEAD_SHARE = 0.25
FEW_DEAD = 1024
# What a row needs beside its vector: two numbers, and whether it counts.
_ROW_OVERHEAD = 8 + 8 + 1


def bytes_of(rows: int, dimensions: int) -> int:
    return rows * (4 * dimensions + _ROW_OVERHEAD)


@dataclass(frozen=True)
class View:
    """The vectors of a project as they were at one generation."""

    generation: int
    # How many documents the project had, those without a vector included.
    documents: int
    matrix: np.ndarray
    section_ids: np.ndarray
    document_ids: np.ndarray
    alive: np.ndarray

    @cached_property
    def dead_rows(self) -> np.ndarray:
        return np.flatnonzero(~self.alive)

    @cached_property
    def _rows_by_section(self) -> tuple[np.ndarray, np.ndarray]:
        """The sections that count, in their order, and their rows."""
        rows = np.flatnonzero(self.alive)
        order = rows[np.argsort(self.section_ids[rows], kind="stable")]
        return self.section_ids[order], order

    def rows_of_sections(self, section_ids: np.ndarray) -> np.ndarray:
        """The rows of those that are here."""
        ordered, rows = self._rows_by_section
        if not len(ordered):
            return rows
        places = np.minimum(np.searchsorted(ordered, section_ids), len(ordered) - 1)
        return rows[places[ordered[places] == section_ids]]

    def rows_of_documents(self, document_ids: np.ndarray) -> np.ndarray:
        return np.flatnonzero(np.isin(self.document_ids, document_ids) & self.alive)


class Matrix:
    """One writer at a time: the caller holds a lock."""

    def __init__(self, dimensions: int, rows: int = 0) -> None:
        self.dimensions = dimensions
        self.rows = 0
        self._dead = 0
        self._allocate(rows + SPARE_ROWS)

    @property
    def bytes(self) -> int:
        return bytes_of(self.rows, self.dimensions)

    def add(self, block: Block) -> None:
        start, end = self.rows, self.rows + len(block.section_ids)
        if end > len(self._alive):
            self._move(np.arange(start), max(end, 2 * len(self._alive)))
        self._matrix[start:end] = block.vectors
        self._section_ids[start:end] = block.section_ids
        self._document_ids[start:end] = block.document_ids
        self._alive[start:end] = True
        self.rows = end

    def strike(self, documents: list[int]) -> None:
        """The rows of these documents count no more."""
        struck = np.isin(self._document_ids[: self.rows], np.array(documents, dtype=np.int64))
        struck &= self._alive[: self.rows]
        self._alive[: self.rows][struck] = False
        self._dead += int(struck.sum())

    def tidy(self) -> None:
        """Leave the dead rows behind, when they are many."""
        if self._dead > max(FEW_DEAD, MOST_DEAD_SHARE * self.rows):
            kept = np.flatnonzero(self._alive[: self.rows])
            self._move(kept, len(kept) + SPARE_ROWS)

    def view(self, *, generation: int, documents: int) -> View:
        shown = slice(0, self.rows)
        return View(
            generation=generation,
            documents=documents,
            matrix=self._matrix[shown],
            section_ids=self._section_ids[shown],
            document_ids=self._document_ids[shown],
            alive=self._alive[shown].copy(),
        )

    def _allocate(self, rows: int) -> None:
        self._matrix = np.empty((rows, self.dimensions), dtype=np.float32)
        self._section_ids = np.empty(rows, dtype=np.int64)
        self._document_ids = np.empty(rows, dtype=np.int64)
        self._alive = np.zeros(rows, dtype=np.bool_)

    def _move(self, kept: np.ndarray, rows: int) -> None:
        """Into new arrays; views of the old ones keep those."""
        matrix, sections = self._matrix, self._section_ids
        documents, alive = self._document_ids, self._alive
        self._allocate(rows)
        count = len(kept)
        # Straight into the new room: an array in between would be as large again.
        np.take(matrix, kept, axis=0, out=self._matrix[:count], mode="clip")
        self._section_ids[:count] = sections[kept]
        self._document_ids[:count] = documents[kept]
        self._alive[:count] = alive[kept]
        self.rows = count
        self._dead = count - int(self._alive[:count].sum())
