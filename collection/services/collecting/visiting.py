"""What a thread does for one repository: ask it, bring over what is new, tell of it.

It never touches the database. It tells by messages, and where it needs a decision it waits for the
answer of the main thread, which is the only one that writes.
"""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice

from django.utils.translation import override

from collection.models import BulkCollectionResult, Repository
from collection.origins.data import Batch, Heads, Origin, OriginProblem, Stopped
from collection.origins.opening import open_origin

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.2
LEFT_CHUNK = 1000
# What a visit goes by.
ASKED_WITH = ("kind", "address", "username", "secret", "since")


@dataclass
class Errand:
    """One target: a branch, and what is known of it."""

    result: BulkCollectionResult
    branch_id: int
    head: str
    # How far it was collected before; and whether that was its end then.
    known: str
    complete: bool
    since: datetime | None
    # Whether other branches of the repository have commits that this one may have, too.
    shares: bool
    # Whether this collection has found before that its history was rewritten.
    rewritten: bool
    # Whether one was found to be rewritten, and then not collected to its end.
    torn: bool

    @property
    def is_new(self) -> bool:
        return self.head != self.known or not self.complete


@dataclass
class Orders:
    """What the main thread wants after it has learnt what is there."""

    # Those with news last: while one of them is left to be ended, it is known that there were some.
    errands: Sequence[Errand] = ()
    # The branch and commit whose documents are to be taken; None: they are as they should be.
    documents: tuple[str, str] | None = None
    # The branch and commit whose mail map is to be read; None: nobody new can be in the commits.
    mailmap: tuple[str, str] | None = None


# To what is there: orders. To commits: those that are stored. To documents: that they are taken.
Answer = Orders | frozenset[str] | None


@dataclass
class Visit:
    """A repository that is being asked, and the way to its thread and back."""

    repository: Repository
    language: str
    # Whether the whole collection is to stop; asks nobody.
    cancelled: Callable[[], bool]
    answers: "queue.SimpleQueue[Answer]" = field(default_factory=queue.SimpleQueue)
    host_keys: str = ""
    # Set by the main thread when nobody waits for it any more.
    unwanted: threading.Event = field(default_factory=threading.Event)

    def is_over(self) -> bool:
        return self.unwanted.is_set() or self.cancelled()

    def is_to(self, repository: Repository) -> bool:
        """The row may say by now that it is somewhere else, or is to be read from earlier on."""
        return all(
            getattr(repository, name) == getattr(self.repository, name) for name in ASKED_WITH
        )


# What a visit tells. Each names its visit.


@dataclass(frozen=True)
class Answered:
    visit: Visit
    heads: Heads


@dataclass(frozen=True)
class Arrived:
    visit: Visit
    errand: Errand
    batch: Batch


@dataclass(frozen=True)
class Shared:
    """Are these stored already, with another branch? Then they need not be compared again."""

    visit: Visit
    errand: Errand
    shas: Sequence[str]


@dataclass(frozen=True)
class Rewritten:
    """The branch no longer contains what was collected of it; these are left behind."""

    visit: Visit
    errand: Errand
    shas: Sequence[str]


@dataclass(frozen=True)
class Reached:
    """Everything of this target has been told."""

    visit: Visit
    errand: Errand


@dataclass(frozen=True)
class Named:
    """Who the people are, as the repository says."""

    visit: Visit
    mailmap: str


@dataclass(frozen=True)
class Documents:
    """They can be read now, from this origin, until the visit is answered."""

    visit: Visit
    origin: Origin
    head: str


@dataclass(frozen=True)
class Failed:
    """The repository, or one target of it, cannot be collected now."""

    visit: Visit
    error: Exception
    errand: Errand | None = None


@dataclass(frozen=True)
class Left:
    """The visit is over, however it went."""

    visit: Visit


Message = Answered | Arrived | Shared | Rewritten | Reached | Named | Documents | Failed | Left


class Visitor:
    """Makes visits; each call of `make` in a thread of its own."""

    def __init__(self, messages: "queue.Queue[Message]") -> None:
        self._messages = messages

    def make(self, visit: Visit) -> None:
        # Sentences are written in the language of those who read them.
        with override(visit.language), suppress(Stopped):
            try:
                self._visit(visit)
            except OriginProblem as problem:
                self._tell(Failed(visit, problem))
            except Stopped:
                raise
            except Exception as error:
                logger.exception("The visit to repository %s failed", visit.repository.pk)
                self._tell(Failed(visit, error))
            self._tell(Left(visit))

    def _visit(self, visit: Visit) -> None:
        with open_origin(visit.repository, stopped=visit.is_over) as origin:
            heads = origin.heads()
            visit.host_keys = getattr(origin, "host_keys", "")
            orders = self._ask(Answered(visit, heads))
            if not isinstance(orders, Orders) or not orders.errands:
                return
            wanted = {each.result.branch_name: each.head for each in orders.errands if each.is_new}
            for branch, head in filter(None, (orders.documents, orders.mailmap)):
                wanted.setdefault(branch, head)
            if wanted:
                origin.bring(wanted)
            *others, last = orders.errands
            for errand in others:
                if self._collect(visit, origin, errand):
                    self._tell(Reached(visit, errand))
            collected = self._collect(visit, origin, last)
            if orders.mailmap is not None:
                self._tell(Named(visit, origin.mailmap(orders.mailmap[1])))
            if orders.documents is not None:
                self._ask(Documents(visit, origin, orders.documents[1]))
            # Only now: after a crash before this the target is pending, and its documents and its
            # mail map come.
            if collected:
                self._tell(Reached(visit, last))

    def _collect(self, visit: Visit, origin: Origin, errand: Errand) -> bool:
        """Tell everything of one target; its trouble is not that of the others."""
        try:
            if errand.is_new:
                self._tell_left_behind(visit, origin, errand)
                for batch in origin.history(
                    errand.head,
                    known=[errand.known] if errand.known else [],
                    since=errand.since,
                    stored=partial(self._stored, visit, errand) if errand.shares else None,
                ):
                    self._tell(Arrived(visit, errand, batch))
        except OriginProblem as problem:
            self._tell(Failed(visit, problem, errand))
            return False
        return True

    def _stored(self, visit: Visit, errand: Errand, shas: Sequence[str]) -> frozenset[str]:
        answer = self._ask(Shared(visit, errand, shas))
        return answer if isinstance(answer, frozenset) else frozenset()

    def _tell_left_behind(self, visit: Visit, origin: Origin, errand: Errand) -> None:
        if not errand.known or origin.contains(errand.head, errand.known):
            return
        self._tell(Rewritten(visit, errand, ()))
        shas = iter(origin.left_behind(errand.head, errand.known))
        while some := list(islice(shas, LEFT_CHUNK)):
            self._tell(Rewritten(visit, errand, some))

    def _tell(self, message: Message) -> None:
        """Waits while the main thread is behind: that keeps memory flat."""
        while not message.visit.is_over():
            try:
                self._messages.put(message, timeout=LOOK_SECONDS)
            except queue.Full:
                continue
            return
        raise Stopped

    def _ask(self, message: Answered | Shared | Documents) -> Answer:
        self._tell(message)
        while not message.visit.is_over():
            try:
                return message.visit.answers.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
        raise Stopped
