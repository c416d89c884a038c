"""A comparison of a folder, or of some places in it, with what is known of it, and what follows.

What was read before is not read again unless its size or its time differ, or something was seen to
happen to it. One file that vanished and one that appeared with the same bytes: it was renamed.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from indexing.folders import mounts
from indexing.folders.known import Known, known_files
from indexing.folders.patterns import Patterns
from indexing.folders.reading import Patience
from indexing.folders.taking import Later, Taking
from indexing.folders.telling import Change, Kind, Tally, Teller
from indexing.folders.tree import Seen, View, is_one_of_or_below, look
from indexing.folders.writing import Writer
from indexing.models import FolderSource
from projects.services.imports import folder_limits

# A program that saves may take the old file away before the new one is there, and a move may be
# seen in two halves.
GONE_SECONDS = 0.5
BATCH_DELETIONS = 500


@dataclass
class Outcome:
    view: View
    tally: Tally = field(default_factory=Tally)
    later: Later = field(default_factory=Later)
    # Why something was left as it is, in words; empty if nothing was.
    problem: str = ""


class Comparer:
    """Makes rounds, and remembers from one to the next what is not decided yet."""

    def __init__(
        self,
        source: FolderSource,
        *,
        writer: Writer,
        teller: Teller,
        stopped: Callable[[], bool],
        allow_empty: bool = False,
    ) -> None:
        self._source = source
        self._patterns = Patterns.of(source.include, source.exclude)
        self._writer = writer
        self._teller = teller
        self._stopped = stopped
        self._allow_empty = allow_empty
        self._patience = Patience()
        # When a file that is gone was first not there.
        self._missed: dict[str, float] = {}
        # The last reason why a path was refused.
        self._told: dict[str, str] = {}

    @property
    def missed(self) -> set[str]:
        """Places that belong to every round: what appears may be one of these."""
        return set(self._missed)

    def doubt(self) -> None:
        """Of what is missed nothing is sure any more."""
        self._missed.clear()

    def look(self, top: int, places: Collection[str] | None = None) -> View:
        return look(top, self._patterns, places)

    def round(
        self,
        top: int,
        places: Collection[str] | None = None,
        *,
        view: View | None = None,
        witnessed: Collection[str] = (),
    ) -> Outcome:
        """Compare everything, or what is at (and below) some places. A file that is such a place is
        read, whatever its size and time. What is gone from places where something was `witnessed`
        to happen is not out of sight."""
        outcome = Outcome(view or self.look(top, places))
        outcome.tally.others = outcome.view.others
        self._tell_what_cannot_be_read(outcome)
        known = known_files(self._source, outcome.view, places)
        gone = _gone(known, outcome.view)
        taking = Taking(
            top=top,
            project_id=self._source.project_id,
            known=known,
            gone=gone,
            writer=self._writer,
            patience=self._patience,
            limits=folder_limits(),
            stopped=self._stopped,
            tell=lambda changes: self._tell(outcome, changes),
            later=outcome.later,
        )
        named = set(places or ())
        files = outcome.view.files.values()
        different = [seen for seen in files if seen.path in named or not _is_known(seen, known)]
        outcome.tally.counts[Kind.UNCHANGED] += len(files) - len(different)
        taking.take(different)
        for path in taking.renamed:
            gone.pop(path)
        # What only moved was found elsewhere by now.
        if places is None and not self._allow_empty:
            self._hold_on_to(gone, outcome, witnessed)
        if not self._stopped():
            self._delete(gone, outcome)
        return outcome

    def _hold_on_to(
        self, gone: dict[str, Known], outcome: Outcome, witnessed: Collection[str]
    ) -> None:
        doubtful = [
            path
            for path in gone
            if path not in self._missed and not is_one_of_or_below(path, witnessed)
        ]
        for folder, paths in mounts.out_of_sight(doubtful, outcome.view).items():
            outcome.problem = mounts.warning(self._source, folder, len(paths))
            for path in paths:
                del gone[path]

    def _delete(self, gone: dict[str, Known], outcome: Outcome) -> None:
        now = time.monotonic()
        ripe = []
        for path, row in gone.items():
            left = self._missed.setdefault(path, now) + GONE_SECONDS - now
            if left > 0:
                outcome.later.again[path] = left
            else:
                ripe.append(row)
        for start in range(0, len(ripe), BATCH_DELETIONS):
            self._tell(outcome, self._writer.delete(ripe[start : start + BATCH_DELETIONS]))
        # Whoever is not waited for any more is gone for good, or back.
        for path in self._missed.keys() - outcome.later.again.keys():
            del self._missed[path]

    def _tell_what_cannot_be_read(self, outcome: Outcome) -> None:
        unreadable = [
            Change(Kind.REFUSED, path, _("It could not be opened."))
            for path in sorted(outcome.view.unreadable)
        ]
        odd = [
            Change(Kind.REFUSED, path, _("Its name cannot be stored.")) for path in outcome.view.odd
        ]
        self._tell(outcome, unreadable + odd)

    def _tell(self, outcome: Outcome, changes: list[Change]) -> None:
        outcome.tally.add(changes)
        for change in changes:
            if change.kind == Kind.UNCHANGED:
                continue
            # What is refused may be refused for the same reason in every round.
            if change.kind != Kind.REFUSED:
                self._told.pop(change.path, None)
            elif self._told.get(change.path) == change.detail:
                continue
            else:
                self._told[change.path] = change.detail
            self._teller.change(change)


def _gone(known: dict[str, Known], view: View) -> dict[str, Known]:
    return {
        path: row
        for path, row in known.items()
        if path not in view.files
        and view.knows_of(path)
        # The texts of an archive that is there are looked after when it is read.
        and not is_one_of_or_below(path, view.files)
    }


def _is_known(seen: Seen, known: dict[str, Known]) -> bool:
    row = known.get(seen.path)
    return row is not None and row.is_like(seen)
