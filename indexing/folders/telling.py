"""What is told about a followed folder: to a person at a terminal, or to the log."""

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from django.utils.translation import gettext as _

from projects.intake.paths import displayable

logger = logging.getLogger(__name__)


class Kind(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    RENAMED = "renamed"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True)
class Change:
    kind: Kind
    path: str
    # Of a rename, where it was; of a refusal, why.
    detail: str = ""

    def __str__(self) -> str:
        path = displayable(self.path)
        if self.kind == Kind.RENAMED:
            return f"{self.kind}  {displayable(self.detail)} → {path}"
        return f"{self.kind}  {path}: {self.detail}" if self.detail else f"{self.kind}  {path}"


@dataclass
class Tally:
    """What a comparison came to."""

    counts: Counter[Kind] = field(default_factory=Counter)
    # Files of other formats, which nobody looks at.
    others: int = 0

    def add(self, changes: Iterable[Change]) -> None:
        self.counts.update(change.kind for change in changes)

    def __str__(self) -> str:
        sentence = _(
            "%(created)s created, %(updated)s updated, %(renamed)s renamed, %(deleted)s deleted, "
            "%(unchanged)s unchanged, %(refused)s refused"
        ) % {kind: self.counts[kind] for kind in Kind}
        if self.others:
            sentence += _(", %(count)s of other formats") % {"count": self.others}
        return sentence


class Teller(Protocol):
    def change(self, change: Change) -> None: ...
    def compared(self, tally: Tally) -> None: ...
    def notice(self, sentence: str) -> None: ...
    def standing_by(self) -> None: ...


class LogTeller:
    def __init__(self, directory: str) -> None:
        self._directory = directory

    def change(self, change: Change) -> None:
        # A line for each file would be too much for the first comparison of a large folder.
        level = logging.INFO if change.kind == Kind.REFUSED else logging.DEBUG
        logger.log(level, "Folder %s: %s", self._directory, change)

    def compared(self, tally: Tally) -> None:
        logger.info("Folder %s compared: %s", self._directory, tally)

    def notice(self, sentence: str) -> None:
        logger.warning("Folder %s: %s", self._directory, sentence)

    def standing_by(self) -> None:
        logger.info("Folder %s is followed by another process", self._directory)
