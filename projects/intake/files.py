"""What goes into the reader and what comes out of it."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from projects.choices import Format, Outcome
from projects.intake.errors import Refused
from projects.intake.paths import displayable


@dataclass(frozen=True)
class Incoming:
    """A file as handed in. It is opened only when its turn comes: one at a time is in memory."""

    path: str
    open: Callable[[], BinaryIO]

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> "Incoming":
        return cls(path=path, open=lambda: io.BytesIO(data))


@dataclass(frozen=True)
class Draft:
    """A file that was read: Markdown or plain text, ready to store."""

    path: str
    content: str
    title: str
    format: Format


@dataclass(frozen=True)
class Rejected:
    """A file that was not read, and why. Its path is safe to show."""

    path: str
    code: str
    message: str
    outcome: ClassVar[Outcome] = Outcome.REFUSED

    @classmethod
    def because(cls, path: str, refused: Refused) -> "Rejected":
        return cls(path=displayable(path), code=refused.code, message=refused.message)
