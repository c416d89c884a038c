"""The doors to folders and files. A link never leads away: not at the time of the setting, and not
when one is put there later, because each step of a path is taken from the folder before it."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# On the way, a folder need not be readable: what Linux asks for is leave to pass through.
_THROUGH = getattr(os, "O_PATH", os.O_RDONLY) | _FOLDER
_INTO = os.O_RDONLY | _FOLDER
# Without waiting at a pipe that was put in the file's place.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

# What the system answers when there is nothing (any more), or a link instead.
NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class FolderProblem(Exception):
    """A folder cannot be followed now; the sentence says why. Nothing is concluded from it about
    the files in it."""


def real_folder(directory: str | os.PathLike[str]) -> str:
    """Where a folder really is; a Refusal if it is none."""
    path = os.path.realpath(directory)
    if not os.path.isdir(path):
        raise Refusal(
            "not_a_folder", _("%(path)s is not a folder.") % {"path": directory}, status=400
        )
    return path


def allowed_folder(directory: str) -> str:
    """The same for one that a person asks for on a page: below the allowed roots only, and nothing
    is told of what is elsewhere."""
    # As it was written, before the disk is asked; and where it really leads.
    if not _is_allowed(os.path.normpath(directory)):
        raise _not_allowed(directory)
    path = real_folder(directory)
    if not _is_allowed(path):
        raise _not_allowed(directory)
    return path


def _is_allowed(path: str) -> bool:
    roots = {
        form for root in settings.FOLDER_ROOTS for form in (root, Path(os.path.realpath(root)))
    }
    return any(Path(path).is_relative_to(root) for root in roots)


def _not_allowed(directory: str) -> Refusal:
    if not settings.FOLDER_ROOTS:
        sentence = _("This site follows no folders: its operator has allowed none.")
    else:
        sentence = _("%(path)s is not below a folder that the operator has allowed.")
    return Refusal("folder_not_allowed", sentence % {"path": directory}, status=400)


@contextmanager
def opened(directory: str, *, restricted: bool) -> Iterator[int]:
    """A folder that was found good before: looked at anew each time, as anything may have been put
    in its place. With `restricted` it must still be below the allowed roots."""
    if restricted and not _is_allowed(directory):
        raise FolderProblem(str(_not_allowed(directory)))
    try:
        folder = open_folder(None, directory)
    except OSError as error:
        if error.errno in NOT_THERE:
            sentence = _(
                "The folder %(path)s is not there. Nothing was deleted; it is tried again."
            )
        else:
            sentence = _(
                "The folder %(path)s cannot be opened (%(reason)s). Nothing was deleted; it is "
                "tried again."
            )
        values = {"path": directory, "reason": error.strerror}
        raise FolderProblem(sentence % values) from error
    try:
        yield folder
    finally:
        os.close(folder)


def open_folder(top: int | None, path: str) -> int:
    """A folder for reading, from an open one or from the root of the machine."""
    return _walk(top, path, _INTO)


def open_file(top: int, path: str) -> BinaryIO:
    """A real file below an open folder."""
    descriptor = _walk(top, path, _FILE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, "Not a regular file", path)
    return os.fdopen(descriptor, "rb")


def file_status(top: int, path: str) -> os.stat_result:
    """That of whatever is there; of a link, its own."""
    folder, _slash, name = path.rpartition("/")
    parent = _walk(top, folder, _THROUGH) if folder else os.dup(top)
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    finally:
        os.close(parent)


def _walk(top: int | None, path: str, flags: int) -> int:
    *through, last = [segment for segment in path.split("/") if segment] or ["."]
    current = os.open("/", _THROUGH) if top is None else os.dup(top)
    for segment, how in [*((segment, _THROUGH) for segment in through), (last, flags)]:
        try:
            following = os.open(segment, how, dir_fd=current)
        finally:
            os.close(current)
        current = following
    return current
