"""A disk that is not mounted leaves an empty folder behind. That its files are out of sight is no
reason to delete their documents."""

import os
from collections import defaultdict
from collections.abc import Iterable

from django.utils.translation import gettext as _

from indexing.folders.tree import View
from indexing.models import FolderSource

# So many files that are gone from a folder with nothing in it: more likely the disk is gone.
MANY = 20


def out_of_sight(gone: Iterable[str], view: View) -> dict[str, list[str]]:
    """Of the paths that are gone: those that may only be out of sight, by the empty folder."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in gone:
        folder = path
        while folder not in view.folders:
            folder = folder.rpartition("/")[0]
        # The place of a disk may hold something else at the top, but then no file for us.
        if not view.files:
            found[""].append(path)
        elif folder in view.empty:
            found[folder].append(path)
    return {folder: paths for folder, paths in found.items() if len(paths) > MANY}


def warning(source: FolderSource, folder: str, count: int) -> str:
    return _(
        "%(folder)s is empty, though %(count)s files were there before. Is a disk not mounted? "
        "Nothing of it was deleted. If it is meant to be empty, run “manage.py watchdocs "
        "%(project)s %(directory)s --once --allow-empty”."
    ) % {
        "folder": os.path.join(source.directory, folder) if folder else source.directory,
        "count": count,
        "project": source.project_id,
        "directory": source.directory,
    }
