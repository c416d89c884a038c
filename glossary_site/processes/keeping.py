"""The process beside the clusters that looks after their work. What it does is in `jobs/keeper.py`;
here is how it learns that it shall stop, and how it shows that it goes on."""

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from glossary_site.processes import identity
from glossary_site.processes.heartbeat import Marks
from glossary_site.processes.stopping import stop_event

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
    stop = stop_event()
    marks.ready.touch()
    main(node=node, marks=lanes, stop=stop, beat=marks.pulse.touch)
