"""The vectors that a process keeps at hand, a matrix for each project and embedder.

Before a search a matrix is brought up to the generation that the search has read: only documents
of a later generation than its own are loaded again. What has not been used for longest goes when
there is no more room (VECTOR_CACHE_MB).

To be called outside of transactions that write: what they wrote could still be undone.
"""

import threading
from collections import OrderedDict

from django.conf import settings

from indexing.models import IndexedDocument
from indexing.vectors import reading
from indexing.vectors.matrix import Matrix, View, bytes_of
from indexing.vectors.reading import State

# How often to look again when the index changes under our eyes. Each time only what has changed
# since is read, so there is seldom a third.
LOOKS = 20
# More than this share of the documents changed: reading everything in one go is quicker.
MOST_CHANGED_SHARE = 0.5
NOTHING_READ = -1


class Newer(Exception):
    """What is at hand is newer than what the caller has read: read that again, and come back."""


class Loaded:
    """The vectors of one project and embedder."""

    def __init__(self, project_id: int, embedder: str, dimensions: int) -> None:
        self.project_id = project_id
        self.embedder = embedder
        self.dimensions = dimensions
        # Whoever brings it up to date holds this; readers take the view and need no lock.
        self.lock = threading.Lock()
        self.view: View | None = None
        self.bytes = 0
        self._forget()

    def _forget(self) -> None:
        self._matrix = Matrix(self.dimensions)
        self._documents: set[int] = set()
        # Up to here everything has been read; up to there something may have been.
        self._generation = NOTHING_READ
        self._highest = NOTHING_READ

    def bring_up(self) -> View:
        """To what this connection sees. Call it with the lock."""
        try:
            return self._bring_up()
        except Newer:
            raise
        except BaseException:
            # Half of a change may be in it.
            self._forget()
            raise

    def _bring_up(self) -> View:
        before = reading.state(self.project_id)
        for _ in range(LOOKS):
            # Somebody read on, and our transaction still sees the past.
            if before.generation < self._highest:
                raise Newer
            self._read(before)
            after = reading.state(self.project_id)
            self._highest = after.generation
            # Every change moves one of the two: nothing moved, so all we read is of one moment.
            if before == after:
                self._matrix.tidy()
                self.bytes = self._matrix.bytes
                self.view = self._matrix.view(
                    generation=after.generation, documents=after.documents
                )
                return self.view
            before = after
        raise Newer

    def _read(self, seen: State) -> None:
        changed = reading.documents_since(self.project_id, self._generation)
        if len(changed) > MOST_CHANGED_SHARE * len(self._documents):
            self._read_all(changed)
        else:
            self._read_again(changed)
        if len(self._documents) != seen.documents:
            self._compare()
        self._generation = seen.generation

    def _read_all(self, documents: list[int]) -> None:
        everything = self._generation == NOTHING_READ
        if not everything:
            rows = IndexedDocument.objects.filter(project_id=self.project_id)
            documents = list(rows.values_list("document_id", flat=True))
        self._matrix = Matrix(self.dimensions, rows=reading.section_count(self.project_id))
        self._documents = set(documents)
        for block in reading.blocks(self.project_id, self.embedder, self.dimensions):
            self._matrix.add(block)

    def _read_again(self, documents: list[int]) -> None:
        if not documents:
            return
        self._matrix.strike(documents)
        self._documents.update(documents)
        for block in reading.blocks(self.project_id, self.embedder, self.dimensions, documents):
            self._matrix.add(block)

    def _compare(self) -> None:
        """Documents have gone; or, seen from an older transaction, have not gone yet."""
        rows = IndexedDocument.objects.filter(project_id=self.project_id)
        present = set(rows.values_list("document_id", flat=True))
        if gone := self._documents - present:
            self._matrix.strike(list(gone))
        back = present - self._documents
        self._documents = present
        self._read_again(list(back))


class Cache:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The one that was used last is at the end.
        self._loaded: OrderedDict[tuple[int, str, int], Loaded] = OrderedDict()

    def view(
        self, *, project_id: int, embedder: str, dimensions: int, generation: int
    ) -> View | None:
        """The vectors of a project at a generation; None if they are more than may be kept."""
        loaded = self._find(project_id, embedder, dimensions)
        if view := _suits(loaded, generation):
            return view
        if _too_large(loaded):
            self._drop(loaded)
            return None
        with loaded.lock:
            # Somebody else may have done it while we waited.
            view = _suits(loaded, generation) or loaded.bring_up()
        self._make_room(loaded)
        if view.generation > generation:
            raise Newer
        return view

    def bytes(self) -> int:
        with self._lock:
            return sum(loaded.bytes for loaded in self._loaded.values())

    def clear(self) -> None:
        with self._lock:
            self._loaded.clear()

    def _find(self, project_id: int, embedder: str, dimensions: int) -> Loaded:
        key = (project_id, embedder, dimensions)
        with self._lock:
            loaded = self._loaded.setdefault(key, Loaded(*key))
            self._loaded.move_to_end(key)
        return loaded

    def _drop(self, loaded: Loaded) -> None:
        with self._lock:
            self._loaded.pop((loaded.project_id, loaded.embedder, loaded.dimensions), None)

    def _make_room(self, used: Loaded) -> None:
        """Drop the others that were not used for longest; readers of their views are not hurt."""
        with self._lock:
            total = sum(loaded.bytes for loaded in self._loaded.values())
            for key, loaded in list(self._loaded.items()):
                if total <= _most_bytes():
                    return
                if loaded is not used:
                    del self._loaded[key]
                    total -= loaded.bytes


def _suits(loaded: Loaded, generation: int) -> View | None:
    view = loaded.view
    if view is None or view.generation < generation:
        return None
    if view.generation > generation:
        raise Newer
    seen = reading.state(loaded.project_id)
    # Of a later generation the number of documents says nothing about this one.
    if seen.generation == generation and seen.documents != view.documents:
        return None
    return view


def _most_bytes() -> int:
    return settings.VECTOR_CACHE_MB * settings.MEGABYTE


def _too_large(loaded: Loaded) -> bool:
    expected = loaded.bytes
    if loaded.view is None:
        expected = bytes_of(reading.section_count(loaded.project_id), loaded.dimensions)
    return expected > _most_bytes()


cache = Cache()
