"""Processes beside the clusters for work that never ends, such as following folders. The settings
say which there are (`COMPANIONS`); nothing of them is loaded before one is started."""

import threading
from collections.abc import Callable
from typing import Protocol

from django.utils.module_loading import import_string

from glossary_site.processes import identity
from glossary_site.processes.heartbeat import Marks
from glossary_site.processes.stopping import stop_event


class Companion(Protocol):
    """Loops until `stop` is set, and calls `beat` about every second."""

    def __call__(self, *, stop: threading.Event, beat: Callable[[], None]) -> None: ...


def run_companion(*, name: str, main: str, node: str, marks: Marks) -> None:
    """Until it is asked to stop. `main` is where the function is."""
    identity.assume(node=node, lane=name, stopping=marks.stopping)
    stop = stop_event()
    function: Companion = import_string(main)
    marks.ready.touch()
    function(stop=stop, beat=marks.pulse.touch)
