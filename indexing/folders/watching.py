"""Changes in folders as they happen; where the system cannot tell them, a look now and then.

The folders to be watched are named one by one and not as a tree: the watcher would follow links
out of it, and into whatever is left out.
"""

import threading
import time
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass

from watchfiles import Change, watch

# How long the watcher waits for more of the same, and how often we get to do something else.
STEP_MS = 25
LONGEST_MS = 200
WAKE_MS = 50
# Between two looks at everything, where nobody tells what changed. Never more than a tenth of the
# time goes into looking.
POLL_SECONDS = 2.0
POLL_SHARE = 10


class CannotWatch(Exception):
    """The system watches no more folders for us."""


@dataclass(frozen=True)
class Batch:
    """What was seen to change since the last one, told from the top of the folder."""

    paths: frozenset[str] = frozenset()
    # Those of them that were not there before.
    appeared: frozenset[str] = frozenset()
    # Anything may have changed.
    everything: bool = False


Batches = Generator[Batch, None, None]


def changes(directory: str, folders: Iterable[str], stop: threading.Event) -> Batches:
    """Begins to watch before the first batch is given, and gives one every moment, empty or not.
    CannotWatch if the system does not; FileNotFoundError if a folder is gone already."""
    found = watch(
        *(f"{directory}/{folder}" if folder else directory for folder in folders),
        watch_filter=None,
        recursive=False,
        step=STEP_MS,
        debounce=LONGEST_MS,
        rust_timeout=WAKE_MS,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
        # It would ignore other errors as well, such as too many folders.
        ignore_permission_denied=False,
    )
    with closing(found):
        try:
            for batch in found:
                yield _batch(directory, batch)
        except FileNotFoundError:
            raise
        except (OSError, RuntimeError) as error:
            # Too many folders are watched on this machine, or by too many watchers.
            raise CannotWatch(str(error).partition(" about ")[0].rstrip(".")) from error


def _batch(directory: str, found: set[tuple[Change, str]]) -> Batch:
    top = f"{directory}/"
    inside = [(kind, path.removeprefix(top)) for kind, path in found if path.startswith(top)]
    return Batch(
        paths=frozenset(path for _kind, path in inside),
        appeared=frozenset(path for kind, path in inside if kind == Change.added),
        # Something happened to the folder itself.
        everything=len(inside) < len(found),
    )


def looks(stop: threading.Event) -> Batches:
    """The same without a watcher."""
    due = time.monotonic()
    while not stop.is_set():
        if time.monotonic() < due:
            stop.wait(WAKE_MS / 1000)
            yield Batch()
            continue
        began = time.monotonic()
        yield Batch(everything=True)
        ended = time.monotonic()
        due = ended + max(POLL_SECONDS, POLL_SHARE * (ended - began))
