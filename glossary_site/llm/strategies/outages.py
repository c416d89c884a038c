"""Whether anybody is answered at all, and telling those who wait for it.

The thread of the wire notes what becomes of its calls (`Watch`). The one that keeps the books looks
every moment (`Teller`), and writes: a line when an outage begins to be felt, long before a call is
given up, and one when it is over.
"""

import math
import time
from dataclasses import dataclass

from django.utils.translation import gettext as _

from glossary_site.llm.sessions import Session

# A hiccup is not worth a line. After each outage it takes twice as long to the next: who comes and
# goes all the time is not told of for ever.
FELT_SECONDS = 1.0


@dataclass(frozen=True)
class Outage:
    """Everybody who called has failed, and nobody has been answered since."""

    # When the first of these calls was made, by the monotonic clock.
    since: float
    why: str
    calls: int


class Watch:
    """Of the calls on a line."""

    def __init__(self) -> None:
        # Always replaced as a whole: another thread reads it.
        self.outage: Outage | None = None
        # Whether they have failed since somebody was answered.
        self._calls: dict[object, bool] = {}
        self._since = math.inf

    def made(self, call: object) -> None:
        self._calls.setdefault(call, False)

    def failed(self, call: object, *, since: float, why: str) -> None:
        self._calls[call] = True
        self._since = min(self._since, since)
        if all(self._calls.values()):
            self.outage = Outage(self._since, why, len(self._calls))

    def answered(self) -> None:
        self.outage, self._since = None, math.inf
        self._calls = dict.fromkeys(self._calls, False)

    def over(self, call: object) -> None:
        self._calls.pop(call, None)


class Teller:
    def __init__(self, session: Session, *, concurrency: int, told: bool) -> None:
        self._session = session
        self._concurrency = concurrency
        self._felt_after = FELT_SECONDS
        # An outage may last longer than a turn, and then it was told of.
        self._told = told

    def look(self, outage: Outage | None, *, heard: bool) -> None:
        """`heard`: somebody has been answered in this turn. One alone may have itself to blame
        then, as long as it keeps nobody waiting."""
        if outage is None:
            if self._told and heard:
                self._told = False
                self._session.log(_("The language model answers again."))
            return
        alone = outage.calls == 1 and heard and self._concurrency > 1
        if self._told or alone or time.monotonic() - outage.since < self._felt_after:
            return
        self._told = True
        self._felt_after *= 2
        words = _("The language model does not answer yet. It is asked again and again.")
        self._session.log(f"{words} {outage.why}".strip(), "warning")
