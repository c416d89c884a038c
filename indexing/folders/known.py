"""The files of a folder as they were when they were last read."""

from collections.abc import Iterable
from typing import NamedTuple

from indexing.folders.tree import Seen, View, is_at_or_below
from indexing.models import FolderFile, FolderSource
from projects.intake.formats import ARCHIVE, ending_of

# In a row: size and time prove nothing, so the file is read again at the next look.
UNSURE = 0

# A database takes only so many values in one question.
PLACES_AT_ONCE = 1000


class Known(NamedTuple):
    """A row of FolderFile. The texts of an archive have rows as if it were a folder:
    “old/notes.zip/intro.md” beside “old/notes.zip”."""

    pk: int
    path: str
    document_id: int | None
    size: int
    modified_ns: int
    content_hash: str

    def is_like(self, seen: Seen) -> bool:
        return (self.size, self.modified_ns) == (seen.size, seen.modified_ns)


def known_files(
    source: FolderSource, view: View, places: Iterable[str] | None = None
) -> dict[str, Known]:
    """Of the whole folder, or at (and below) some places of it, as `view` shows them now."""
    rows = FolderFile.objects.filter(source=source).values_list(*Known._fields)
    if places is None:
        return {row[1]: Known._make(row) for row in rows}
    places = sorted(places)
    found = {}
    for start in range(0, len(places), PLACES_AT_ONCE):
        for row in rows.filter(path__in=places[start : start + PLACES_AT_ONCE]):
            found[row[1]] = Known._make(row)
    for place in places:
        if place in found and ending_of(place) != ARCHIVE:
            continue
        if place in view.files and ending_of(place) != ARCHIVE:
            continue
        # A folder, now or before; or an archive.
        for row in rows.filter(path__startswith=f"{place}/"):
            # SQLite does not tell large letters from small ones here.
            if is_at_or_below(row[1], place):
                found[row[1]] = Known._make(row)
    return found
