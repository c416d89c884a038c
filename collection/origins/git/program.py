"""The programs that do the work: are they here, and are they new enough?"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

from django.utils.translation import gettext as _

from collection.choices import State
from collection.origins.data import OriginProblem

# The first that connects to the very addresses that were checked (http.curloptResolve).
OLDEST = (2, 37, 0)
VERSION = re.compile(rb"git version (\d+)\.(\d+)(?:\.(\d+))?")
VERSION_SECONDS = 10.0
# Since these, git that serves a repository never fetches what is missing in it from elsewhere by
# a command that the repository's own configuration names.
NEVER_FETCHES = {
    *((2, 39, 4), (2, 40, 2), (2, 41, 1), (2, 42, 2)),
    *((2, 43, 4), (2, 44, 1), (2, 45, 1)),
}


@dataclass(frozen=True)
class Program:
    path: str
    version: tuple[int, int, int]

    @property
    def serves_safely(self) -> bool:
        """May it read a repository that belongs to somebody else on this machine?"""
        if self.version >= max(NEVER_FETCHES):
            return True
        return any(
            self.version[:2] == fixed[:2] and self.version >= fixed for fixed in NEVER_FETCHES
        )


def git_program() -> Program:
    path = shutil.which("git")
    version = _version(path) if path else None
    if path is None or version is None:
        raise OriginProblem(
            State.UNREACHABLE,
            _("The program git is not installed on the machine of this site."),
        )
    if version < OLDEST:
        raise OriginProblem(
            State.UNREACHABLE,
            _("The program git on the machine of this site is too old: it must be 2.37 or newer."),
        )
    return Program(path, version)


def ssh_program() -> str:
    path = shutil.which("ssh")
    if path is None:
        raise OriginProblem(
            State.UNREACHABLE,
            _("The program ssh is not installed on the machine of this site."),
        )
    return path


@cache
def _version(path: str) -> tuple[int, int, int] | None:
    try:
        answer = subprocess.run(  # noqa: S603
            [path, "version"],
            capture_output=True,
            check=True,
            timeout=VERSION_SECONDS,
            env={"LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = VERSION.match(answer.stdout)
    if found is None:
        return None
    return int(found[1]), int(found[2]), int(found[3] or 0)
