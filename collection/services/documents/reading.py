"""From the files of a commit to the texts in them, one at a time in memory."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from django.utils.translation import gettext_lazy as _

from collection.origins.data import FileData, Origin
from collection.services.documents.comparing import UNSURE, Known, Tree
from collection.services.documents.wishes import Places
from projects.intake.errors import Refused, readable_size
from projects.intake.files import Draft, Incoming, Rejected
from projects.intake.limits import Limits
from projects.intake.paths import displayable
from projects.intake.reader import read

# How a file begins whose content is kept elsewhere.
LFS = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class Task:
    """A file to be read, and the path that its document has or gets."""

    file: FileData
    known: Known | None
    path: str


@dataclass(frozen=True)
class Reading:
    """A file, and what was in it."""

    file: FileData
    known: Known | None
    result: Draft | Rejected
    # What the row is to say: a file that was refused because of others is looked at again.
    blob: str

    @property
    def characters(self) -> int:
        return len(self.result.content) if isinstance(self.result, Draft) else 0


@dataclass
class Work:
    """What there is to do about the files of a commit."""

    tasks: list[Task]
    # Refused before they are read.
    refused: list[Reading]
    unchanged: list[str]
    # As before, and still refused.
    still_refused: list[str]


def work_of(
    tree: Tree, known: Mapping[str, Known], *, places: Places, limits: Limits, new_wish: bool
) -> Work:
    work = Work([], [], [], [])
    claims = _claims(tree, known)
    for path in sorted(tree.files):
        file, row = tree.files[path], known.get(path)
        if row is not None and row.blob == file.blob and not (new_wish and row.error):
            if row.error:
                work.still_refused.append(path)
            else:
                work.unchanged.append(path)
            continue
        try:
            target = (row and row.document_path) or places.of(path)
            holder = claims.setdefault(target, path)
            if holder != path:
                raise _taken(holder)
            if file.size > limits.max_file_bytes:
                raise _too_large(limits)
        except Refused as refused:
            blob = UNSURE if refused.code == "document_path_taken" else file.blob
            result = Rejected.because(path, refused)
            if row is not None and (row.blob, row.error) == (blob, result.message):
                work.still_refused.append(path)
            else:
                work.refused.append(Reading(file, row, result, blob))
        else:
            work.tasks.append(Task(file, row, target))
    return work


def _claims(tree: Tree, known: Mapping[str, Known]) -> dict[str, str]:
    """Which file has which document. Two that come to the same path (by their accents, or because
    a person has moved a document) would for ever write over each other: the first one keeps it."""
    claims: dict[str, str] = {}
    for path in sorted(tree.files):
        row = known.get(path)
        if row is not None and row.document_path is not None:
            claims.setdefault(row.document_path, path)
    return claims


def read_all(
    origin: Origin,
    head: str,
    tasks: Sequence[Task],
    *,
    limits: Limits,
    check: Callable[[], None],
) -> Iterator[Reading]:
    by_path = {task.file.path: task for task in tasks}
    taken: list[Task] = []

    def incoming() -> Iterator[Incoming]:
        files = [task.file for task in by_path.values()]
        for file, data in origin.contents(head, files):
            check()
            task = by_path[file.path]
            taken.append(task)
            yield Incoming(path=task.path, open=partial(_opened, data))

    # One that is no archive and no litter gives one result before the next is asked for.
    for result in read(incoming(), limits):
        task = taken.pop()
        yield Reading(task.file, task.known, result, task.file.blob)


def _opened(data: bytes) -> BinaryIO:
    if data.startswith(LFS):
        raise Refused(
            "content_elsewhere",
            _("The repository has only a pointer to the file (Git LFS), not its content."),
        )
    return io.BytesIO(data)


def _taken(holder: str) -> Refused:
    return Refused(
        "document_path_taken",
        _("“%(path)s” of the repository is the document at this path already."),
        path=displayable(holder),
    )


def _too_large(limits: Limits) -> Refused:
    return Refused(
        "file_too_large",
        _("The file is larger than %(limit)s, the limit for one file."),
        limit=readable_size(limits.max_file_bytes),
    )
