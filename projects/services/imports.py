"""Bringing a folder of this machine into a project, file by file, however many there are."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import BinaryIO

from django.utils.translation import gettext_lazy as _

from projects.access import Actor
from projects.choices import Source
from projects.intake.errors import Refused
from projects.intake.files import Incoming, Rejected
from projects.intake.ignoring import IGNORE_FILE, Ignoring, ignore_lines
from projects.intake.limits import Limits
from projects.intake.reader import read
from projects.limits import limits
from projects.models import Project
from projects.services.documents import Stored, store_documents

# More than there are. Not the largest number there is, as the reader calculates with it.
ANY_NUMBER = 10**9


def import_folder(
    *,
    project: Project,
    folder: Path,
    actor: Actor,
    source: Source = Source.FOLDER,
    without: Path | None = None,
) -> Iterator[Stored | Rejected]:
    """Store every file below the folder but one, saying for each what became of it. Nothing happens
    until it is iterated."""
    unreadable: list[Rejected] = []
    files = files_below(folder, unreadable.append)
    if without is not None:
        left_out = os.path.relpath(os.path.realpath(without), os.path.realpath(folder))
        files = (file for file in files if file.path != left_out)
    drafts = read(files, folder_limits())
    yield from store_documents(project=project, drafts=drafts, source=source, actor=actor)
    yield from unreadable


def folder_limits() -> Limits:
    """As for an upload, but a folder may have any number of files: its operator chose it."""
    return replace(limits(), max_files=ANY_NUMBER, conversion_total_seconds=inf)


def files_below(folder: Path, unreadable: Callable[[Rejected], None]) -> Iterator[Incoming]:
    """The files of a folder in the order of their paths. Links are not followed, so that nothing
    from outside comes in; hidden folders and what a `.gitignore` names are left out. What is there
    and cannot be read is told to `unreadable`."""
    return _walk(folder, "", Ignoring(), unreadable)


def _walk(
    folder: Path, prefix: str, above: Ignoring, unreadable: Callable[[Rejected], None]
) -> Iterator[Incoming]:
    try:
        with os.scandir(folder / prefix) as entries:
            found = sorted((e.name, e.is_dir(follow_symlinks=False)) for e in entries)
    except OSError:
        refused = Refused("folder_unreadable", _("The folder could not be opened."))
        unreadable(Rejected.because(prefix or str(folder), refused))
        return
    ignored = above.entering(prefix, ignore_lines(folder / prefix))
    for name, is_folder in found:
        path = prefix + name
        if is_folder:
            if not name.startswith(".") and not ignored.names(f"{path}/"):
                yield from _walk(folder, f"{path}/", ignored, unreadable)
        elif name != IGNORE_FILE and not ignored.names(path):
            if why := _no_file(folder / path):
                unreadable(Rejected.because(path, why))
            else:
                yield Incoming(path=path, open=partial(_open, folder / path))


def _no_file(path: Path) -> Refused | None:
    """Whatever is no real file: a link, a pipe to wait at, a device."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        mode = 0
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return Refused("link", _("Links are not followed."))
    return Refused("no_file", _("It is not a file."))


def _open(path: Path) -> BinaryIO:
    # It may have been replaced by a link since it was listed.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")
