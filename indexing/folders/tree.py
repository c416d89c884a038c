"""What is in a folder now, or at some places in it: the files that count, and what cannot be said.

Links are not followed; hidden files and folders and what a `.gitignore` names are left out.
"""

import os
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from indexing.folders.opening import NOT_THERE, file_status, open_folder
from indexing.folders.patterns import Patterns, is_hidden, is_readable
from indexing.models.folders import PATH_LENGTH
from projects.intake.ignoring import Ignoring, ignore_lines

# Rows of an archive's texts are as long as its path and a hash at most.
LONGEST_PATH = PATH_LENGTH - 70
# The same folder, or another one that was put (or mounted) in its place.
Identity = tuple[int, int]


@dataclass(frozen=True)
class Seen:
    """A file as it was when it was looked at. Its path is told from the top of the folder."""

    path: str
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> "Seen":
        return cls(path, status.st_size, status.st_mtime_ns)


@dataclass
class View:
    files: dict[str, Seen] = field(default_factory=dict)
    # Those that were entered or passed through, by path; the top is "".
    folders: dict[str, Identity] = field(default_factory=dict)
    # Folders with nothing in them at all, as a disk leaves behind that was taken away.
    empty: set[str] = field(default_factory=set)
    # Of what is there, or below, nothing is known. That is not the same as nothing being there.
    unreadable: set[str] = field(default_factory=set)
    # Names that no database can keep.
    odd: list[str] = field(default_factory=list)
    # Files of other formats.
    others: int = 0

    def knows_of(self, path: str) -> bool:
        return not any(is_at_or_below(path, place) for place in self.unreadable)


def is_at_or_below(path: str, place: str) -> bool:
    return not place or path == place or path.startswith(f"{place}/")


def is_one_of_or_below(path: str, places: Collection[str]) -> bool:
    while path and path not in places:
        path = path.rpartition("/")[0]
    return bool(path)


def look(top: int, patterns: Patterns, places: Iterable[str] | None = None) -> View:
    """The whole folder that is open as `top`, or what is at (and below) some places of it."""
    walk = _Walk(top, patterns)
    if places is None:
        walk.folder(os.dup(top), "", Ignoring())
    else:
        for place in sorted(places):
            walk.place(place)
    return walk.view


class _Walk:
    def __init__(self, top: int, patterns: Patterns) -> None:
        self.view = View()
        self._top = top
        self._patterns = patterns
        # The rules that hold in a folder, of those on the way to a place.
        self._ignoring: dict[str, Ignoring] = {}

    def place(self, path: str) -> None:
        rules = self._way_to(path)
        if rules is None:
            return
        try:
            status = file_status(self._top, path)
            if not stat.S_ISDIR(status.st_mode):
                self._file(path, status, rules)
            elif self._enters(path, rules):
                self.folder(open_folder(self._top, path), path, rules)
        except OSError as error:
            self._note(path, error)

    def _way_to(self, path: str) -> Ignoring | None:
        """The rules in the folder of a path; None where no way leads to it."""
        rules = self._rules_of("", Ignoring())
        segments = path.split("/")
        for depth in range(1, len(segments)):
            folder = "/".join(segments[:depth])
            if rules is None or not self._enters(folder, rules):
                return None
            rules = self._rules_of(folder, rules)
        return rules

    def _rules_of(self, folder: str, above: Ignoring) -> Ignoring | None:
        if folder not in self._ignoring:
            try:
                descriptor = open_folder(self._top, folder)
            except OSError as error:
                self._note(folder, error)
                return None
            try:
                self._ignoring[folder] = self._enter(descriptor, folder, above)
            finally:
                os.close(descriptor)
        return self._ignoring[folder]

    def _enter(self, descriptor: int, folder: str, above: Ignoring) -> Ignoring:
        status = os.fstat(descriptor)
        self.view.folders[folder] = (status.st_dev, status.st_ino)
        return above.entering(f"{folder}/" if folder else "", ignore_lines("", below=descriptor))

    def folder(self, descriptor: int, folder: str, above: Ignoring) -> None:
        """Everything in a folder; closes it."""
        try:
            rules = self._enter(descriptor, folder, above)
            with os.scandir(descriptor) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
            if not found:
                self.view.empty.add(folder)
            for entry in found:
                path = f"{folder}/{entry.name}" if folder else entry.name
                self._entry(descriptor, entry, path, rules)
        except OSError as error:
            self._note(folder, error)
        finally:
            os.close(descriptor)

    def _entry(self, parent: int, entry: os.DirEntry[str], path: str, rules: Ignoring) -> None:
        try:
            if not entry.is_dir(follow_symlinks=False):
                # Links, pipes and devices are no files either.
                if entry.is_file(follow_symlinks=False):
                    self._file(path, entry.stat(follow_symlinks=False), rules)
            elif self._enters(path, rules):
                self.folder(open_folder(parent, entry.name), path, rules)
        except OSError as error:
            self._note(path, error)

    def _enters(self, folder: str, rules: Ignoring) -> bool:
        return (
            not is_hidden(folder.rpartition("/")[2])
            and not rules.names(f"{folder}/")
            and self._patterns.enters(folder)
            and self._can_be_kept(folder)
        )

    def _file(self, path: str, status: os.stat_result, rules: Ignoring) -> None:
        name = path.rpartition("/")[2]
        if not stat.S_ISREG(status.st_mode) or is_hidden(name) or rules.names(path):
            return
        if not self._patterns.takes(path):
            return
        if not is_readable(path):
            self.view.others += 1
        elif self._can_be_kept(path):
            self.view.files[path] = Seen.of(path, status)

    def _can_be_kept(self, path: str) -> bool:
        try:
            path.encode()
        except UnicodeEncodeError:
            fits = False
        else:
            fits = len(path) <= LONGEST_PATH
        if not fits:
            self.view.odd.append(path)
        return fits

    def _note(self, path: str, error: OSError) -> None:
        if error.errno not in NOT_THERE:
            self.view.unreadable.add(path)
