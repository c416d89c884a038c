"""The files of a commit beside what was last read of the repository."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from collection.models import Repository, RepositoryFile
from collection.origins.data import FileData, Origin
from collection.services.documents.wishes import Places, Wanted, is_storable
from projects.intake.errors import Refused
from projects.intake.formats import ending_of
from projects.intake.paths import clean_path

# As the blob of a row: whatever the file is, it is to be looked at again.
UNSURE = ""
LOOK_EVERY = 1000


@dataclass
class Tree:
    """The files of a commit that are wanted, by path."""

    files: dict[str, FileData] = field(default_factory=dict)
    # Those whose names the database cannot hold.
    odd: int = 0


class Known(NamedTuple):
    """A row of RepositoryFile, and where its document is now: a person may have moved it."""

    pk: int
    path: str
    blob: str
    document_id: int | None
    error: str
    document_path: str | None

    @property
    def is_unwelcome(self) -> bool:
        """A person has deleted its document."""
        return self.document_id is None and not self.error


@dataclass(frozen=True)
class Move:
    """A file that is elsewhere now, or is to be; and whether its document goes with it."""

    row: Known
    file: FileData
    leads: bool

    @property
    def must_be_read(self) -> bool:
        return bool(self.row.error) or ending_of(self.row.path) != ending_of(self.file.path)


def tree_of(origin: Origin, head: str, wanted: Wanted, check: Callable[[], None]) -> Tree:
    tree = Tree()
    if not wanted:
        return tree
    for count, file in enumerate(origin.files(head)):
        if count % LOOK_EVERY == 0:
            check()
        if not wanted(file.path):
            continue
        if is_storable(file.path):
            tree.files[file.path] = file
        else:
            tree.odd += 1
    return tree


def known_files(repository: Repository) -> dict[str, Known]:
    rows = RepositoryFile.objects.filter(repository=repository).order_by("path")
    fields = ("pk", "path", "blob", "document_id", "error", "document__path")
    return {row[1]: Known._make(row) for row in rows.values_list(*fields)}


def moves_between(
    known: Mapping[str, Known],
    tree: Tree,
    *,
    renames: Callable[[], Mapping[str, str]],
    places: Places,
    new_wish: bool,
) -> Iterator[Move]:
    """Files that have another path: as the repository says, or with the same content. With a new
    wish, also those whose documents belong into another folder."""
    gone = {path: row for path, row in known.items() if path not in tree.files}
    new = {path: file for path, file in tree.files.items() if path not in known}
    if gone and new:
        for old, file in _pairs(gone, new, renames()):
            row = gone[old]
            # A file that was refused has nothing to take along; one whose document a person
            # deleted stays unwelcome until its text is another one.
            if row.document_id is not None or (row.is_unwelcome and row.blob == file.blob):
                yield Move(row, file, leads=_is_at_home(row, places, new_wish=new_wish))
    if new_wish:
        for path in sorted(known.keys() & tree.files.keys()):
            row = known[path]
            # Those that are there already are left alone: the work may go on after a stop.
            if _is_at_home(row, places, new_wish=True) and not _is_at_home(
                row, places, new_wish=False
            ):
                yield Move(row, tree.files[path], leads=True)


def _pairs(
    gone: Mapping[str, Known], new: Mapping[str, FileData], renames: Mapping[str, str]
) -> Iterator[tuple[str, FileData]]:
    left = dict(new)
    said = {old: to for old, to in renames.items() if old in gone and to in new}
    for old, to in said.items():
        if to in left:
            yield old, left.pop(to)
    by_blob: defaultdict[str, list[str]] = defaultdict(list)
    for path, row in gone.items():
        if path not in said:
            by_blob[row.blob].append(path)
    for path, file in left.items():
        if candidates := by_blob.get(file.blob):
            # Of several copies, the one that kept its name.
            name = path.rpartition("/")[2]
            old = next((each for each in candidates if each.endswith(f"/{name}")), candidates[0])
            candidates.remove(old)
            yield old, file


def _is_at_home(row: Known, places: Places, *, new_wish: bool) -> bool:
    """Is the document where its file has put it? Else a person has moved it, and it stays there."""
    if row.document_path is None:
        return False
    try:
        if new_wish:
            # Which folder they came into before is not known any more.
            own = clean_path(row.path)
            return f"/{row.document_path}".endswith(f"/{own}")
        return row.document_path == places.of(row.path)
    except Refused:
        return False
