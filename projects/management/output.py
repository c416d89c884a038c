"""Where a command puts its result: standard output, or a file that is there whole or not at all."""

import errno
import os
import stat
import tempfile
from collections.abc import Generator, Iterable
from pathlib import Path

from django.core.management.base import CommandError, OutputWrapper
from django.utils.translation import gettext as _

# A name may be as long as the file system allows: what is written beside it has only its beginning.
BEGINNING_LENGTH = 40


def write_result(pieces: Iterable[str], *, output: Path | None, stdout: OutputWrapper) -> None:
    try:
        if output is not None:
            _write(pieces, output)
            return
        for piece in pieces:
            stdout.write(piece, ending="")
        stdout.flush()
    finally:
        # A query that was not read to its end has to be closed before its connection is.
        if isinstance(pieces, Generator):
            pieces.close()


def try_output(output: Path) -> None:
    """Before the work: raise the OSError that writing there would end with."""
    mode = _mode_of(output)
    if _is_written_into(mode):
        if stat.S_ISSOCK(mode):
            raise _os_error(errno.ENXIO, output)
        if not os.access(output, os.W_OK):
            raise _os_error(errno.EACCES, output)
        return
    # Rights alone do not tell: root has them even where nothing can be made.
    descriptor, name = _beside(_followed(output))
    os.close(descriptor)
    os.unlink(name)


def cannot_write(output: Path, error: OSError) -> str:
    return _("Cannot write %(path)s: %(why)s") % {"path": output, "why": error.strerror or error}


def _write(pieces: Iterable[str], output: Path) -> None:
    try:
        _write_file(pieces, output)
    except OSError as error:
        raise CommandError(cannot_write(output, error)) from error


def _write_file(pieces: Iterable[str], output: Path) -> None:
    mode = _mode_of(output)
    if _is_written_into(mode):
        with os.fdopen(os.open(output, os.O_WRONLY), "w", encoding="utf-8", newline="") as pipe:
            pipe.writelines(pieces)
        return
    target = _followed(output)
    descriptor, name = _beside(target)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        # What mkstemp makes is for its owner alone; a file that was there keeps its rights.
        os.chmod(name, mode & 0o777 if mode else 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _mode_of(output: Path) -> int:
    """Of what is there, at the end of all links; 0 where nothing is."""
    try:
        mode = output.stat().st_mode
    except FileNotFoundError:
        return 0
    if stat.S_ISDIR(mode):
        raise _os_error(errno.EISDIR, output)
    return mode


def _is_written_into(mode: int) -> bool:
    """A pipe or a device stays what it is: a file in its place would be of no use to its reader."""
    return mode != 0 and not stat.S_ISREG(mode)


def _followed(output: Path) -> Path:
    """A link stays, too: what it leads to is replaced, or made."""
    return Path(os.path.realpath(output))


def _beside(target: Path) -> tuple[int, str]:
    """A new file in the same folder: a rename does not cross file systems."""
    return tempfile.mkstemp(prefix=f".{target.name[:BEGINNING_LENGTH]}.", dir=target.parent)


def _os_error(number: int, output: Path) -> OSError:
    return OSError(number, os.strerror(number), str(output))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
