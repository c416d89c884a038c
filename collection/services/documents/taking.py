"""The documents of a repository, brought to what its document branch has.

The files of the head are compared with the rows of what was last read. Files that moved take their
documents along, changed ones are read and stored, the documents of deleted ones go. Whoever is
killed on the way has stored whole batches, and the next comparison leads to the same end.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar

from django.utils import timezone
from django.utils.translation import ngettext

from collection.models import Repository
from collection.origins.data import Origin
from collection.services.documents.comparing import (
    Known,
    Move,
    Tree,
    known_files,
    moves_between,
    tree_of,
)
from collection.services.documents.reading import Reading, Task, read_all, work_of
from collection.services.documents.wishes import Places, Wanted, documents_key
from collection.services.documents.writing import Writer
from projects.choices import Outcome
from projects.services.imports import folder_limits

T = TypeVar("T")

BATCH_TOUCHES = 1000
BATCH_FILES = 200
BATCH_CHARACTERS = 4_000_000
BATCH_MOVES = 200
BATCH_DELETIONS = 500


@dataclass(frozen=True)
class Taken:
    """What became of the files of the head, and of the documents of files that are gone."""

    created: int = 0
    updated: int = 0
    renamed: int = 0
    deleted: int = 0
    # Now, or before and not changed since.
    refused: int = 0
    unchanged: int = 0


def take_documents(
    repository: Repository,
    origin: Origin,
    *,
    head: str,
    atomic: Callable[[], AbstractContextManager[object]],
    check: Callable[[], None],
) -> Taken:
    """`atomic` makes the transaction of each batch; `check` raises where the work is to stop."""
    return _Taking(repository, origin, head=head, atomic=atomic, check=check).take()


class _Taking:
    def __init__(
        self,
        repository: Repository,
        origin: Origin,
        *,
        head: str,
        atomic: Callable[[], AbstractContextManager[object]],
        check: Callable[[], None],
    ) -> None:
        if repository.project is None:
            raise ValueError("Documents need a project to come into")
        self._repository = repository
        self._origin = origin
        self._head = head
        self._check = check
        self._key = documents_key(repository)
        self._new_wish = self._key != repository.documents_key
        self._wanted = Wanted(repository.document_patterns)
        self._places = Places(repository.document_folder)
        self._limits = folder_limits()
        self._writer = Writer(
            repository,
            repository.project,
            head=head,
            places=self._places,
            atomic=atomic,
            check=check,
        )
        self._fates: dict[str, Outcome] = {}
        self._renamed: set[str] = set()
        self._deleted = 0

    def take(self) -> Taken:
        tree = tree_of(self._origin, self._head, self._wanted, self._check)
        # Before the files: one that moves takes the commits of its old path along.
        self._note_touches()
        self._move(tree)
        again = True
        while again:
            known = known_files(self._repository)
            self._store(tree, known)
            again = self._delete([row for path, row in known.items() if path not in tree.files])
        self._finish(tree)
        return self._taken(tree)

    def _note_touches(self) -> None:
        before = self._repository.documents_head
        known = [before] if before and not self._new_wish else []
        if self._wanted:
            touches = self._origin.touches(self._head, known=known, wanted=self._wanted)
            for some in _batches(touches, BATCH_TOUCHES):
                self._writer.note_touches(some)

    def _renames(self) -> Mapping[str, str]:
        before = self._repository.documents_head
        if not before or before == self._head:
            return {}
        return self._origin.renames(before, self._head)

    def _move(self, tree: Tree) -> None:
        moves = list(
            moves_between(
                known_files(self._repository),
                tree,
                renames=self._renames,
                places=self._places,
                new_wish=self._new_wish,
            )
        )
        # A place may be free as soon as another document has left it.
        while moves:
            refused: list[Move] = []
            for some in _batches(moves, BATCH_MOVES):
                moved, taken = self._writer.move(some)
                refused += taken
                self._renamed |= {move.file.path for move in moved if move.row.document_id}
            moves = refused if len(refused) < len(moves) else []

    def _store(self, tree: Tree, known: Mapping[str, Known]) -> None:
        work = work_of(
            tree, known, places=self._places, limits=self._limits, new_wish=self._new_wish
        )
        for path in work.unchanged:
            self._fates.setdefault(path, Outcome.UNCHANGED)
        for path in work.still_refused:
            self._fates.setdefault(path, Outcome.REFUSED)
        for some in _readings(chain(work.refused, self._read(work.tasks))):
            outcomes = self._writer.store(some)
            for reading, outcome in zip(some, outcomes, strict=True):
                if outcome != Outcome.UNCHANGED:
                    self._fates[reading.file.path] = outcome
                else:
                    self._fates.setdefault(reading.file.path, outcome)

    def _read(self, tasks: Sequence[Task]) -> Iterator[Reading]:
        # Some at a time: nothing over there has to wait until thousands of texts are stored.
        for some in _batches(tasks, BATCH_FILES):
            yield from read_all(
                self._origin, self._head, some, limits=self._limits, check=self._check
            )

    def _delete(self, gone: Sequence[Known]) -> bool:
        """Whether others have to be read again."""
        again = False
        for some in _batches(gone, BATCH_DELETIONS):
            deleted, others = self._writer.delete(some)
            self._deleted += deleted
            again = again or others
        return again

    def _finish(self, tree: Tree) -> None:
        trouble = ""
        if tree.odd:
            trouble = ngettext(
                "%(n)s file was left out: its name cannot be stored.",
                "%(n)s files were left out: their names cannot be stored.",
                tree.odd,
            ) % {"n": tree.odd}
        self._writer.finish(
            documents_head=self._head,
            documents_key=self._key,
            documents_at=timezone.now(),
            documents_error=trouble,
        )

    def _taken(self, tree: Tree) -> Taken:
        counts = Counter(self._fates.values())
        unchanged = {path for path, fate in self._fates.items() if fate == Outcome.UNCHANGED}
        return Taken(
            created=counts[Outcome.CREATED],
            updated=counts[Outcome.UPDATED],
            renamed=len(self._renamed),
            deleted=self._deleted,
            refused=counts[Outcome.REFUSED] + tree.odd,
            unchanged=len(unchanged - self._renamed),
        )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(items)
    while some := list(islice(left, size)):
        yield some


def _readings(readings: Iterable[Reading]) -> Iterator[list[Reading]]:
    batch: list[Reading] = []
    characters = 0
    for reading in readings:
        batch.append(reading)
        characters += reading.characters
        if len(batch) >= BATCH_FILES or characters > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
