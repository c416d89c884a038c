"""The one door to the git program.

Nothing of the surroundings comes through it: no configuration of the machine or of a person, no
variable, no hook, no prompt, no pager, no proxy. There is no shell. What people typed stands behind
`--`. Time, disk and output are limited, and whoever asked can stop it at any moment.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings

from collection.origins.data import Stopped
from collection.origins.git.access import Way, write_config
from collection.origins.git.children import Child, WroteTooMuch
from collection.origins.git.program import git_program
from glossary_site.processes.locks import own_directory

# What a program needs to run at all.
INHERITED = ("PATH", "LD_LIBRARY_PATH")
ENVIRONMENT = {
    "LC_ALL": "C",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    # History as it is, not as somebody's notes on a machine would have it.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
CONFIG = {
    ("init", "", "defaultBranch"): "none",
    ("core", "", "hooksPath"): "/dev/null",
    ("core", "", "fsmonitor"): "false",
    ("core", "", "askPass"): "",
    # Enough for many versions of the same files, one after the other; more was no faster. What is
    # mapped of the packs is given back, too: memory must not grow with the history.
    ("core", "", "deltaBaseCacheLimit"): "48m",
    ("core", "", "packedGitWindowSize"): "32m",
    ("core", "", "packedGitLimit"): "128m",
    # Comparing texts takes some sixty times their size: a larger file counts as binary, or a small
    # repository could take all the memory of the machine.
    ("core", "", "bigFileThreshold"): "32m",
    ("credential", "", "helper"): "",
    ("protocol", "", "version"): "2",
    ("protocol", "ext", "allow"): "never",
    ("transfer", "", "bundleURI"): "false",
    ("fetch", "", "unpackLimit"): "1",
    # With it, and in topological order only, what is excluded is excluded even where clocks were
    # wrong: git otherwise believes that parents are older than their children.
    ("fetch", "", "writeCommitGraph"): "true",
    ("fetch", "", "recurseSubmodules"): "false",
    # Tidying is ours: see `mirror.py`.
    ("gc", "", "auto"): "0",
    ("maintenance", "", "auto"): "false",
}
READ_LIMIT = 64 * 1024 * 1024


class Git:
    """Git for one repository, with a private folder for as long as it is open."""

    def __init__(self, *, stopped: Callable[[], bool]) -> None:
        self.program = git_program()
        self.stopped = stopped
        self._open = ExitStack()
        # Copies of what others may not see.
        data_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = self._open.enter_context(own_directory(data_folder() / "private", "git-"))
        write_config(self.folder / "config", CONFIG)

    def close(self) -> None:
        self._open.close()

    def stream(
        self,
        arguments: Sequence[str],
        *,
        repository: Path | None = None,
        way: Way | None = None,
        stdin: IO[bytes] | None = None,
        seconds: float | None = None,
        look: Callable[[], None] | None = None,
    ) -> Iterator[bytes]:
        """What it writes, as it writes it. It ends when the iterator is closed. `look` is called
        twice a second in place of `check`, and ends it by raising."""
        child = Child(
            [self.program.path, *arguments],
            environment=self._environment(repository, way),
            folder=str(self.folder),
            stdin=stdin,
            seconds=settings.GIT_SECONDS if seconds is None else seconds,
            # A host has so long for everything. Our own copy may be read for as long as it takes,
            # if only it goes on.
            renews=way is None,
            look=look or self.check,
        )
        try:
            yield from child.output()
        finally:
            child.close()

    def read(
        self,
        arguments: Sequence[str],
        *,
        repository: Path | None = None,
        way: Way | None = None,
        stdin: IO[bytes] | None = None,
        seconds: float | None = None,
        look: Callable[[], None] | None = None,
        limit: int = READ_LIMIT,
    ) -> bytes:
        """All that it writes."""
        streamed = self.stream(
            arguments, repository=repository, way=way, stdin=stdin, seconds=seconds, look=look
        )
        return b"".join(limited(streamed, limit))

    def check(self) -> None:
        if self.stopped():
            raise Stopped

    @contextmanager
    def lines_in(self, lines: Iterator[str] | Sequence[str]) -> Iterator[IO[bytes]]:
        """A file that a process reads as its input: unlike a pipe it needs nobody who fills it."""
        with tempfile.TemporaryFile(dir=self.folder) as file:
            for line in lines:
                file.write(line.encode() + b"\n")
            file.seek(0)
            yield file

    def _environment(self, repository: Path | None, way: Way | None) -> dict[str, str]:
        config = self.folder / "config"
        if way is not None:
            config = self.folder / "config-of-way"
            write_config(config, {**CONFIG, **way.config})
        return {
            **{name: os.environ[name] for name in INHERITED if name in os.environ},
            **ENVIRONMENT,
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder),
            "GIT_CONFIG_GLOBAL": str(config),
            # A checkout around the data directory is not what is meant.
            "GIT_CEILING_DIRECTORIES": str(self.folder.parent),
            **({"GIT_DIR": str(repository)} if repository else {}),
            # None at all where nobody has to be asked.
            "GIT_ALLOW_PROTOCOL": way.protocol if way else "none",
            **(way.environment if way else {}),
        }


def limited(pieces: Iterable[bytes], limit: int = READ_LIMIT) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise WroteTooMuch
        yield piece


def data_folder() -> Path:
    return Path(settings.DATA_DIR) / "git"
