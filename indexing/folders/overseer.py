"""The folders that one process follows: it takes those that nobody follows, a thread each, and lets
go of those that it shall follow no more."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from django.db import DatabaseError, InterfaceError, connection
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from indexing.folders.follower import Follower
from indexing.folders.lease import LEASE_SECONDS, Lease, LeaseLost, new_holder
from indexing.folders.opening import FolderProblem
from indexing.folders.telling import LogTeller, Teller
from indexing.models import FolderSource
from projects.access import OPERATOR, Actor

logger = logging.getLogger(__name__)

# How soon a setting is noticed that somebody changed.
TICK_SECONDS = 1.0
RENEW_SECONDS = LEASE_SECONDS / 5
# After an end that nobody wished for. Others may try meanwhile: they may have the disk.
PAUSE_SECONDS = 5.0
# Less than the watchdog waits for a process to end in good order.
END_SECONDS = 2.5


class Stop(Protocol):
    """Whether to come to an end; an Event is one."""

    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


class Following:
    """One folder, followed in a thread of its own."""

    def __init__(
        self, source: FolderSource, *, lease: Lease, actor: Actor, teller: Teller, restricted: bool
    ) -> None:
        self.source = source
        self.lease = lease
        self.renewed = time.monotonic()
        self._actor = actor
        self._teller = teller
        self._restricted = restricted
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"folder {source.pk}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def is_as(self, source: FolderSource) -> bool:
        """Whether this is what the row says now."""
        return all(
            getattr(self.source, name) == getattr(source, name)
            for name in ("directory", "include", "exclude")
        )

    def ask_to_stop(self) -> None:
        self._stop.set()

    def end(self, until: float) -> None:
        """Wait for it, within limits: it may be at a file that takes long."""
        self._thread.join(max(until - time.monotonic(), 0.0))
        try:
            self.lease.release()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("Folder %s: the database cannot be used: %s", self.source, error)

    def _run(self) -> None:
        try:
            Follower(
                self.source,
                lease=self.lease,
                actor=self._actor,
                teller=self._teller,
                stop=self._stop,
                restricted=self._restricted,
            ).follow()
        except (FolderProblem, Refusal) as problem:
            self._tell_problem(str(problem))
        except LeaseLost:
            logger.info("Folder %s is followed by somebody else, or no more", self.source)
        except (DatabaseError, InterfaceError) as error:
            logger.warning("Folder %s: the database cannot be used: %s", self.source, error)
        except Exception:
            logger.exception("Folder %s cannot be followed", self.source)
            self._tell_problem(_("Something went wrong; the log of the worker says what."))
        finally:
            connection.close()

    def _tell_problem(self, sentence: str) -> None:
        if sentence != self.source.error:
            self._teller.notice(sentence)
        try:
            self.lease.note(error=sentence)
        except (DatabaseError, InterfaceError) as error:
            logger.warning("Folder %s: the database cannot be used: %s", self.source, error)


class Overseer:
    def __init__(
        self,
        wanted: Callable[[], Iterable[FolderSource]],
        *,
        actor: Actor = OPERATOR,
        teller_for: Callable[[FolderSource], Teller],
        restricted: bool,
    ) -> None:
        """`wanted` are the folders to follow, asked for again and again."""
        self._wanted = wanted
        self._actor = actor
        self._teller_for = teller_for
        self._restricted = restricted
        self._following: dict[int, Following] = {}
        self._not_before: dict[int, float] = {}
        self._standing_by: set[int] = set()

    def run(self, stop: Stop, beat: Callable[[], None] = lambda: None) -> None:
        """Until told to stop; `beat` shows again and again that it goes on."""
        try:
            while not stop.is_set():
                try:
                    self.look()
                except (DatabaseError, InterfaceError) as error:
                    logger.warning("Folders cannot be followed without the database: %s", error)
                    connection.close()
                beat()
                stop.wait(TICK_SECONDS)
        finally:
            self._end(list(self._following))

    def look(self) -> None:
        wanted = {source.pk: source for source in self._wanted()}
        self._end(
            [
                pk
                for pk, following in self._following.items()
                if pk not in wanted
                or not following.is_as(wanted[pk])
                or not self._goes_on(following)
            ]
        )
        now = time.monotonic()
        for pk, source in wanted.items():
            if pk not in self._following and now >= self._not_before.get(pk, 0.0):
                self._begin(source)

    def _goes_on(self, following: Following) -> bool:
        if not following.alive:
            self._not_before[following.source.pk] = time.monotonic() + PAUSE_SECONDS
            return False
        if time.monotonic() < following.renewed + RENEW_SECONDS:
            return True
        following.renewed = time.monotonic()
        return following.lease.renew()

    def _begin(self, source: FolderSource) -> None:
        teller = self._teller_for(source)
        lease = Lease(source.pk, new_holder())
        if not lease.take():
            if source.pk not in self._standing_by:
                self._standing_by.add(source.pk)
                teller.standing_by()
            return
        self._standing_by.discard(source.pk)
        self._following[source.pk] = Following(
            source, lease=lease, actor=self._actor, teller=teller, restricted=self._restricted
        )

    def _end(self, keys: Iterable[int]) -> None:
        ending = [self._following.pop(pk) for pk in keys]
        for following in ending:
            following.ask_to_stop()
        until = time.monotonic() + END_SECONDS
        for following in ending:
            following.end(until)


def main(*, stop: threading.Event, beat: Callable[[], None]) -> None:
    """The worker's child process: it follows what is enabled."""
    enabled = FolderSource.objects.filter(enabled=True).select_related("project")
    Overseer(
        enabled.all,
        teller_for=lambda source: LogTeller(source.directory),
        restricted=True,
    ).run(stop, beat)
