"""Where a command puts its result: standard output, or a file that is there whole or not at all."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from django.core.management.base import CommandError, OutputWrapper
from django.utils.translation import gettext as _


def write_result(pieces: Iterable[str], *, output: Path | None, stdout: OutputWrapper) -> None:
    if output is None:
        for piece in pieces:
            stdout.write(piece, ending="")
        stdout.flush()
        return
    try:
        _write_file(pieces, output)
    except OSError as error:
        raise CommandError(
            _("Cannot write %(path)s: %(why)s") % {"path": output, "why": error.strerror or error}
        ) from error


def _write_file(pieces: Iterable[str], output: Path) -> None:
    if output.is_dir():
        raise IsADirectoryError(21, os.strerror(21), str(output))
    # Beside its place: a rename does not cross file systems.
    descriptor, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        # What mkstemp makes is for its owner alone; a file that was there keeps its rights.
        mode = output.stat().st_mode & 0o777 if output.exists() else 0o666 & ~_umask()
        os.chmod(name, mode)
        os.replace(name, output)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
