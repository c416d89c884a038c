"""What `.gitignore` files name: that of a folder, and those of the folders below it."""

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from pathspec.pattern import RegexPattern

from projects.intake.globs import spec_of

IGNORE_FILE = ".gitignore"
# In the library's expressions: the end of a folder that matched.
FOLDER_MARK = "ps_d"
# A longer one was not written by anybody.
MOST_BYTES = 2**20


class Ignoring:
    """The rules that hold in one folder: its own, and those of the folders above it."""

    def __init__(self, rules: "tuple[tuple[str, list[_Rule]], ...]" = ()) -> None:
        self._rules = rules

    def entering(self, prefix: str, lines: Iterable[str]) -> "Ignoring":
        """Those in the folder `prefix` (“sub/”; empty for the top), whose own file has `lines`."""
        own = [rule for line in lines if (rule := _rule(line))]
        # As in git, the last one that says anything about a path decides, of the nearest file.
        return Ignoring((*self._rules, (prefix, own[::-1]))) if own else self

    def names(self, path: str) -> bool:
        """Whether a path, told from the top, is to be left out; that of a folder ends in “/”. Not
        to be asked about what is below a folder that is left out: nothing brings that back."""
        for prefix, rules in reversed(self._rules):
            inside = path.removeprefix(prefix)
            for rule in rules:
                if rule.is_about(inside):
                    return bool(rule.pattern.include)
        return False


@dataclass(frozen=True)
class _Rule:
    """One line. The library also takes what is below a folder to match that matches itself; here
    each folder was asked about on the way, as git does it."""

    pattern: RegexPattern
    # Without a slash it is about names, wherever they are.
    about_names: bool

    def is_about(self, path: str) -> bool:
        if self.about_names:
            path = path[path.rstrip("/").rfind("/") + 1 :]
        found = self.pattern.match_file(path)
        if found is None:
            return False
        match = found.match
        if match.groupdict().get(FOLDER_MARK):
            return match.end(FOLDER_MARK) == len(path)
        # “b/**” is about all that is in b, not about b.
        return not path.endswith("/") or self.pattern.match_file(path[:-1]) is not None


def _rule(line: str) -> _Rule | None:
    try:
        patterns = spec_of([line]).patterns
    except (ValueError, re.error):
        # As in git, a line that means nothing costs only itself.
        return None
    if not patterns or patterns[0].include is None:
        return None
    return _Rule(cast(RegexPattern, patterns[0]), "/" not in line.strip().rstrip("/"))


def ignore_lines(folder: str | os.PathLike[str], *, below: int | None = None) -> list[str]:
    """The lines of a folder's own file; none where there is none that can be read. `below` is an
    open folder that `folder` is relative to."""
    # As in git, a link does not count; and nobody waits at a pipe.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(os.path.join(folder, IGNORE_FILE), flags, dir_fd=below), "rb") as f:
            if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
                return []
            data = f.read(MOST_BYTES)
    except OSError:
        return []
    text = data.decode("utf-8-sig", errors="replace")
    # At these alone: a name may hold other signs that `splitlines` takes for the end of a line.
    return text.replace("\r\n", "\n").split("\n")
