"""The process beside the clusters that looks after their work. What it does is in `jobs/keeper.py`;
here is how it learns that it shall stop, and how it shows that it goes on."""

import signal
import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from glossary_site.processes import identity
from glossary_site.processes.heartbeat import Marks
from glossary_site.processes.stopping import STOP_SIGNALS

KEEPER = "keeper"


class Keeper(Protocol):
    """Loops until `stop` is set, and calls `beat` about every second."""

    def __call__(
        self,
        *,
        node: str,
        marks: Mapping[str, Marks],
        stop: threading.Event,
        beat: Callable[[], None],
    ) -> None: ...


def run_keeper(*, main: Keeper, node: str, marks: Marks, lanes: Mapping[str, Marks]) -> None:
    """Until it is asked to stop. `lanes` are the marks of the clusters beside it."""
    identity.assume(node=node, lane=KEEPER, stopping=marks.stopping)
    stop = _stop_event()
    marks.ready.touch()
    main(node=node, marks=lanes, stop=stop, beat=marks.pulse.touch)


def _stop_event() -> threading.Event:
    """Set by a stop signal. From a thread that waits for it: a signal's handler runs in the middle
    of anything, and would wait for ever for a lock that the event's own wait is just holding."""
    stop = threading.Event()
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)

    def listen() -> None:
        signal.sigwait(STOP_SIGNALS)
        stop.set()

    threading.Thread(target=listen, name="stop", daemon=True).start()
    return stop
