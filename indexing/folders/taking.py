"""The part of a round that reads files and has the results written, in batches."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from indexing.folders.known import Known
from indexing.folders.opening import NOT_THERE
from indexing.folders.reading import Changing, Patience, Snapshot, snapshot, texts_of
from indexing.folders.telling import Change, Kind
from indexing.folders.tree import Seen
from indexing.folders.writing import Reading, Rename, Writer
from projects.intake.errors import Refused
from projects.intake.formats import ARCHIVE, ending_of
from projects.intake.limits import Limits
from projects.intake.paths import clean_path
from projects.models import Document

BATCH_FILES = 200
BATCH_CHARACTERS = 4_000_000


@dataclass
class Later:
    """Places to look at again, and in how many seconds."""

    # Nothing was concluded about these yet.
    again: dict[str, float] = field(default_factory=dict)
    # Of these only a check is left, which any later comparison would do as well.
    settling: dict[str, float] = field(default_factory=dict)


class Taking:
    def __init__(
        self,
        *,
        top: int,
        project_id: int,
        known: Mapping[str, Known],
        gone: Mapping[str, Known],
        writer: Writer,
        patience: Patience,
        limits: Limits,
        stopped: Callable[[], bool],
        tell: Callable[[list[Change]], None],
        later: Later,
    ) -> None:
        self._top = top
        self._project_id = project_id
        self._known = known
        self._writer = writer
        self._patience = patience
        self._limits = limits
        self._stopped = stopped
        self._tell = tell
        self._later = later
        self._gone_by_digest: defaultdict[str, list[Known]] = defaultdict(list)
        for row in gone.values():
            if row.content_hash and row.document_id is not None:
                self._gone_by_digest[row.content_hash].append(row)
        self.renamed: set[str] = set()
        self._same: list[tuple[Known, Snapshot]] = []
        self._renames: list[Rename] = []
        self._readings: list[Reading] = []

    def take(self, files: Iterable[Seen]) -> None:
        for one, results in texts_of(self._to_convert(files), self._limits):
            path = one.seen.path
            self._readings.append(
                Reading(one, results, self._known.get(path), self._parts_of(path))
            )
            self._patience.done(path)
            if (
                len(self._readings) >= BATCH_FILES
                or sum(reading.characters for reading in self._readings) > BATCH_CHARACTERS
            ):
                self._flush()
        self._flush()

    def _parts_of(self, path: str) -> list[Known]:
        if ending_of(path) != ARCHIVE:
            return []
        return [row for row in self._known.values() if row.path.startswith(f"{path}/")]

    def _to_convert(self, files: Iterable[Seen]) -> Iterator[Snapshot]:
        for seen in files:
            if self._stopped():
                return
            one = self._snapshot(seen)
            if one is None:
                continue
            row = self._known.get(seen.path)
            if row is not None and one.digest and one.digest == row.content_hash:
                self._same.append((row, one))
            elif row is None and (before := self._renamed_from(one)):
                self._renames.append(Rename(before, one))
            else:
                yield one
                continue
            one.discard()
            self._patience.done(seen.path)
            if len(self._same) + len(self._renames) >= BATCH_FILES:
                self._flush()

    def _snapshot(self, seen: Seen) -> Snapshot | None:
        path = seen.path
        if wait := self._patience.seconds_left(seen):
            self._later.again[path] = wait
            return None
        patient = not self._patience.is_over(path)
        try:
            return snapshot(self._top, path, limits=self._limits, patient=patient)
        except Changing:
            self._later.again[path] = self._patience.disturbed(path)
        except OSError as error:
            if error.errno in NOT_THERE:
                self._later.again[path] = self._patience.disturbed(path)
            else:
                # No row is written: it is tried again in every comparison.
                self._tell([Change(Kind.REFUSED, path, _("The file could not be opened."))])
        return None

    def _renamed_from(self, one: Snapshot) -> Known | None:
        candidates = self._gone_by_digest.get(one.digest)
        if not candidates or not self._is_free(one.seen.path):
            return None
        # Of several copies, the one that kept its name.
        name = one.seen.path.rpartition("/")[2]
        found = next(
            (row for row in candidates if row.path.rpartition("/")[2] == name), candidates[0]
        )
        candidates.remove(found)
        return found

    def _is_free(self, path: str) -> bool:
        try:
            path = clean_path(path)
        except Refused:
            return False
        return not Document.objects.filter(project_id=self._project_id, path=path).exists()

    def _flush(self) -> None:
        """Write what was read. The lists are emptied first: what fails is found again later."""
        same, self._same = self._same, []
        renames, self._renames = self._renames, []
        readings, self._readings = self._readings, []
        if same:
            self._writer.confirm(same)
            self._tell([Change(Kind.UNCHANGED, row.path) for row, _one in same])
        if renames:
            self._flush_renames(renames)
        if readings:
            self._tell(self._writer.store(readings))
        for one in (*(one for _row, one in same), *(reading.snapshot for reading in readings)):
            self._settle(one)

    def _flush_renames(self, renames: list[Rename]) -> None:
        changes = self._writer.rename(renames)
        self._tell(changes)
        done = {change.path for change in changes}
        for rename in renames:
            path = rename.snapshot.seen.path
            if path in done and rename.same_format:
                self.renamed.add(rename.known.path)
                self._settle(rename.snapshot)
            else:
                # Its text has to be read, as another format or as a file of its own.
                self._later.again[path] = 0.0
                if path in done:
                    self.renamed.add(rename.known.path)

    def _settle(self, one: Snapshot) -> None:
        if not one.settled:
            self._later.settling[one.seen.path] = one.seconds_to_settle
