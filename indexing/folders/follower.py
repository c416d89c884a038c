"""Follows one folder: compares everything, then goes from change to change."""

import os
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from indexing.folders.lease import Lease
from indexing.folders.opening import FolderProblem, opened
from indexing.folders.patterns import is_hidden
from indexing.folders.rounds import Comparer, Outcome
from indexing.folders.telling import Kind, Tally, Teller
from indexing.folders.tree import Identity, View
from indexing.folders.watching import Batch, Batches, CannotWatch, changes, looks
from indexing.folders.writing import Writer
from indexing.models import FolderSource
from projects.access import Actor
from projects.intake.ignoring import IGNORE_FILE

# The system drops changes when there are too many at once, and some disks tell none of what others
# do there: everything is compared now and then.
COMPARE_SECONDS = 60.0
# That a disk is taken away, or put there, is not told as a change either.
CHECK_SECONDS = 2.0
# More places than this in one round: a look at everything is simpler.
MOST_PLACES = 500
# After this long without work the database need not keep a connection for us.
IDLE_SECONDS = 2.0


class Follower:
    def __init__(
        self,
        source: FolderSource,
        *,
        lease: Lease,
        actor: Actor,
        teller: Teller,
        stop: threading.Event,
        restricted: bool,
        allow_empty: bool = False,
    ) -> None:
        self._source = source
        self._lease = lease
        self._teller = teller
        self._stop = stop
        self._restricted = restricted
        self._comparer = Comparer(
            source,
            writer=Writer(source, lease=lease, actor=actor),
            teller=teller,
            stopped=stop.is_set,
            allow_empty=allow_empty,
        )
        self._polling = settings.FOLDER_POLLING
        # The folders that are watched.
        self._watched: dict[str, Identity] = {}
        # When to look at a place.
        self._due: dict[str, float] = {}
        # Where something was seen to happen that is not looked after yet.
        self._witnessed: set[str] = set()
        self._next_comparison = 0.0

    def compare(self) -> Tally:
        """Compare everything, and wait for what is just being written. FolderProblem where
        something had to be left as it is."""
        with self._opened() as top:
            outcome = self._round(top, None)
        tally, problem = outcome.tally, outcome.problem
        while outcome.later.again and not self._stop.wait(min(outcome.later.again.values())):
            with self._opened() as top:
                outcome = self._round(top, outcome.later.again.keys() | self._comparer.missed)
            # These were counted already, as what they are.
            outcome.tally.counts.pop(Kind.UNCHANGED, None)
            tally.counts.update(outcome.tally.counts)
        if not self._stop.is_set():
            self._note_comparison(problem)
        return tally

    def follow(self) -> None:
        """Until told to stop. FolderProblem when the folder cannot be followed now, LeaseLost when
        somebody else does."""
        compared = False
        while not self._stop.is_set():
            with closing(self._begin_watching()) as batches:
                if compared:
                    self._compare_on_the_way()
                else:
                    tally = self.compare()
                    compared = not self._stop.is_set()
                    if compared:
                        self._teller.compared(tally)
                # One that breaks down on the way is begun anew.
                with suppress(CannotWatch):
                    self._go_along(batches)

    def _begin_watching(self) -> Batches:
        """From here on no change is missed; whatever happened before, a comparison finds."""
        while not self._polling:
            with self._opened() as top:
                view = self._comparer.look(top)
            self._doubt_if_moved(view)
            self._watched = view.folders
            batches = changes(self._source.directory, self._watched, self._stop)
            try:
                self._note_places(next(batches, Batch()))
            except FileNotFoundError:
                # One of the folders went away meanwhile. If it is the top one, that is told.
                continue
            except CannotWatch as error:
                self._polling = True
                self._teller.notice(
                    _(
                        "The system does not report changes here (%(reason)s); the folder is "
                        "looked through every few seconds instead. On Linux, a larger "
                        "fs.inotify.max_user_watches or max_user_instances helps."
                    )
                    % {"reason": error}
                )
            else:
                return batches
        return looks(self._stop)

    def _go_along(self, batches: Batches) -> None:
        """Until the folders that are watched are not the ones that should be."""
        idle_since = checked = time.monotonic()
        for batch in batches:
            now = time.monotonic()
            self._note_places(batch)
            places = {path for path, due in self._due.items() if due <= now}
            if (
                batch.everything
                or now >= self._next_comparison
                or len(places) > MOST_PLACES
                or any(path.rpartition("/")[2] == IGNORE_FILE for path in batch.paths)
            ):
                view = self._compare_on_the_way()
            elif places:
                places |= self._comparer.missed
                with self._opened() as top:
                    view = self._comparer.look(top, places)
                    # Otherwise a comparison has to judge, as soon as all is watched.
                    if self._watches(view, batch):
                        self._round(top, places, view)
            else:
                if now > checked + CHECK_SECONDS:
                    checked = now
                    if self._is_another():
                        return
                if now > idle_since + IDLE_SECONDS:
                    connection.close()
                continue
            idle_since = now
            if not self._watches(view, batch):
                return

    def _note_places(self, batch: Batch) -> None:
        now = time.monotonic()
        for path in batch.paths:
            if not any(map(is_hidden, path.split("/"))):
                self._due[path] = now
                self._witnessed.add(path)

    def _watches(self, view: View, batch: Batch) -> bool:
        """Whether the folders in view are those that are watched."""
        if self._polling:
            return True
        # One that was made anew may look like the one that was there before.
        return view.folders.items() <= self._watched.items() and not (
            batch.appeared & view.folders.keys()
        )

    def _doubt_if_moved(self, view: View) -> None:
        """Where another disk or folder is in the place of one that we knew, what is not there any
        more may only be out of sight, whatever was seen to happen."""
        if any(self._watched.get(path, who) != who for path, who in view.folders.items()):
            self._witnessed.clear()
            self._comparer.doubt()

    def _is_another(self) -> bool:
        """Whether something else is in the place of the folder."""
        try:
            status = os.lstat(self._source.directory)
        except OSError:
            return True
        return not self._polling and self._watched[""] != (status.st_dev, status.st_ino)

    def _compare_on_the_way(self) -> View:
        with self._opened() as top:
            view = self._comparer.look(top)
            self._doubt_if_moved(view)
            outcome = self._round(top, None, view)
        self._note_comparison(outcome.problem)
        return view

    def _round(self, top: int, places: Collection[str] | None, view: View | None = None) -> Outcome:
        outcome = self._comparer.round(top, places, view=view, witnessed=frozenset(self._witnessed))
        for place in list(self._due) if places is None else places:
            self._due.pop(place, None)
        self._witnessed.clear()
        now = time.monotonic()
        later = outcome.later.settling | outcome.later.again
        self._due.update((place, now + seconds) for place, seconds in later.items())
        return outcome

    def _note_comparison(self, problem: str) -> None:
        if problem:
            raise FolderProblem(problem)
        self._lease.note(reconciled_at=timezone.now(), error="")
        self._next_comparison = time.monotonic() + COMPARE_SECONDS

    @contextmanager
    def _opened(self) -> Iterator[int]:
        with opened(self._source.directory, restricted=self._restricted) as top:
            yield top
