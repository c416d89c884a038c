"""Our own copy of a repository: a bare one that has only what was fetched into it.

It is a cache. Where it is missing, damaged or of another address it is made anew. What is in it by
the names of `refs/collected/` are the branches as they were last fetched; `refs/kept/` holds on to
heads that a branch has left, so that it can be said what was left behind.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from collection.origins.git.access import Way
from collection.origins.git.children import GitFailed, TookTooLong
from collection.origins.git.running import Git, data_folder
from collection.origins.git.troubles import TooLarge, is_no_damage, looks_damaged
from glossary_site.processes.locks import try_lock

COLLECTED = "refs/collected/"
KEPT = "refs/kept/"
# What a mirror was made for, beside its other files.
MADE_FOR = "made-for"
LOCK_POLL_SECONDS = 0.1
SIZE_LOOK_SECONDS = 1.0
# Each fetch leaves a pack; with many of them, finding an object takes long.
MANY_PACKS = 30
MOST_KEPT = 500
FORMATS = {40: "sha1", 64: "sha256"}


def mirror_folder(repository_id: int) -> Path:
    return data_folder() / f"{repository_id}.git"


def remove_mirror(repository_id: int) -> None:
    """For a repository that is gone. Whoever is reading it finds out."""
    _remove(mirror_folder(repository_id))
    _lock_file(mirror_folder(repository_id)).unlink(missing_ok=True)


def mirror_ids() -> list[int]:
    """The repositories of which there is a copy here."""
    return [
        int(path.stem)
        for path in data_folder().glob("*.git")
        if path.stem.isascii() and path.stem.isdigit()
    ]


class ChangedMeanwhile(Exception):
    """A branch no longer has what it was said to have a moment ago."""


class Damaged(Exception):
    """Our copy is no good."""


class Mirror:
    def __init__(self, path: Path, git: Git, *, made_for: str) -> None:
        self.path = path
        self._git = git
        # Objects of another address are of no use, and would count against the limit.
        self._made_for = hashlib.sha256(made_for.encode()).hexdigest()

    @property
    def is_shallow(self) -> bool:
        return (self.path / "shallow").is_file()

    def fetch(self, way: Way, branches: Mapping[str, str]) -> None:
        """Have these heads. A copy that cannot be used is thrown away, once."""
        if not branches:
            return
        with self._alone():
            try:
                self._fetch(way, branches)
            except Damaged:
                _remove(self.path)
                self._fetch(way, branches)

    def discard(self) -> None:
        """It turned out to be damaged: the next fetch begins anew."""
        with self._alone():
            _remove(self.path)

    def has(self, *shas: str) -> dict[str, bool]:
        """Which of these commits are here."""
        if not self.path.exists():
            return dict.fromkeys(shas, False)
        with self._git.lines_in(shas) as stdin:
            answer = self._git.read(
                ["cat-file", "--batch-check=%(objecttype)"], repository=self.path, stdin=stdin
            )
        kinds = answer.decode().splitlines()
        return {sha: kind == "commit" for sha, kind in zip(shas, kinds, strict=True)}

    def _fetch(self, way: Way, branches: Mapping[str, str]) -> None:
        self._make(FORMATS[len(next(iter(branches.values())))])
        self._sweep()
        before = self._refs()
        with self._blaming_the_copy():
            here = self.has(*set(branches.values())) if before else {}
        missing = [name for name, sha in branches.items() if not here.get(sha)]
        # Before a branch moves on: what it leaves must not be lost even if we die here.
        left = {
            old
            for name, sha in branches.items()
            if (old := before.get(own_name(name))) is not None and old != sha
        }
        self._update([f"update {KEPT}{sha} {sha}" for sha in left])
        if missing:
            self._ask(way, missing)
            before = self._refs()
        moved = {name: sha for name, sha in branches.items() if before.get(own_name(name)) != sha}
        if moved:
            if not all(self.has(*set(moved.values())).values()):
                raise ChangedMeanwhile
            self._update([f"update {own_name(name)} {sha}" for name, sha in moved.items()])
        if left:
            self._forget_reachable(set(branches.values()))
        if missing:
            self._tidy()

    def _ask(self, way: Way, names: Sequence[str]) -> None:
        wish = [f"+refs/heads/{name}:{own_name(name)}" for name in names]
        watch = SizeWatch(self.path)

        def look() -> None:
            self._git.check()
            watch.look()

        try:
            with self._git.lines_in(wish) as stdin:
                self._git.read(
                    [
                        *("fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head"),
                        *("--update-shallow", "--refmap=", "--stdin"),
                        # As far back as the other side can by now.
                        *(["--unshallow"] if self.is_shallow else []),
                        *(*way.options, "--", way.url),
                    ],
                    repository=self.path,
                    way=way,
                    stdin=stdin,
                    look=look,
                )
            SizeWatch(self.path).look()
        except TooLarge:
            _remove(self.path)
            raise
        except GitFailed as failed:
            self._sweep()
            if looks_damaged(failed):
                raise Damaged from failed
            raise
        except BaseException:
            self._sweep()
            raise

    def _make(self, object_format: str) -> None:
        made_for = f"{self._made_for} {object_format}\n"
        with suppress(OSError):
            if (self.path / MADE_FOR).read_text() == made_for:
                return
        _remove(self.path)
        new = self.path.with_name(f"{self.path.name}.new")
        _remove(new)
        self._git.read(
            [
                *("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}"),
                *("--", str(new)),
            ]
        )
        (new / MADE_FOR).write_text(made_for)
        new.rename(self.path)

    def _refs(self) -> dict[str, str]:
        answer = self._of_the_copy("--format=%(refname) %(objectname)", COLLECTED)
        lines = (line.partition(" ") for line in answer.decode().splitlines())
        return {name: sha for name, _blank, sha in lines}

    def _update(self, lines: Sequence[str]) -> None:
        if lines:
            with self._blaming_the_copy(), self._git.lines_in(lines) as stdin:
                self._git.read(["update-ref", "--stdin"], repository=self.path, stdin=stdin)

    def _forget_reachable(self, heads: Iterable[str]) -> None:
        """A head that the branch only went past needs no name of its own."""
        merged = (f"--merged={sha}" for sha in heads)
        answer = self._of_the_copy("--format=delete %(refname)", *merged, KEPT)
        self._update(answer.decode().splitlines())

    def _of_the_copy(self, *arguments: str) -> bytes:
        with self._blaming_the_copy():
            return self._git.read(["for-each-ref", *arguments], repository=self.path)

    def _tidy(self) -> None:
        packs = list((self.path / "objects" / "pack").glob("*.pack"))
        if len(packs) < MANY_PACKS:
            return
        # A tidier copy is nice to have and nothing to fail for.
        with suppress(GitFailed, TookTooLong, Damaged):
            kept = self._of_the_copy("--sort=-committerdate", "--format=delete %(refname)", KEPT)
            self._update(kept.decode().splitlines()[MOST_KEPT:])
            # Small packs are joined, the large one stays as it is.
            self._git.read(["repack", "--quiet", "--geometric=2", "-d"], repository=self.path)

    def _sweep(self) -> None:
        """What a process that was killed has left in the way. We are alone here."""
        for pattern in ("*.lock", "refs/**/*.lock", "objects/info/**/*.lock", "objects/pack/*"):
            for file in self.path.glob(pattern):
                name = file.name
                if name.endswith((".lock", ".keep")) or name.startswith(("tmp_", ".tmp-")):
                    file.unlink(missing_ok=True)

    @contextmanager
    def _blaming_the_copy(self) -> Iterator[None]:
        try:
            yield
        except GitFailed as failed:
            if is_no_damage(failed):
                raise
            raise Damaged from failed

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time changes a copy."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        until = time.monotonic() + settings.GIT_SECONDS
        while (lock := try_lock(_lock_file(self.path))) is None:
            self._git.check()
            if time.monotonic() > until:
                raise TookTooLong
            time.sleep(LOCK_POLL_SECONDS)
        with lock:
            yield


class SizeWatch:
    """Looks now and then how large a copy has become."""

    def __init__(self, path: Path) -> None:
        self._objects = path / "objects"
        self._next = 0.0

    def look(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + SIZE_LOOK_SECONDS
        if self._size() > settings.GIT_MAX_BYTES:
            raise TooLarge

    def _size(self) -> int:
        """With single objects: hosts without git of their own are asked for one after the other."""
        total = 0
        for folder, _folders, names in os.walk(self._objects):
            for name in names:
                with suppress(FileNotFoundError):  # given its real name just now
                    total += os.stat(os.path.join(folder, name)).st_size
        return total


def own_name(branch: str) -> str:
    """Where a branch is kept. Names as they come can stand in each other's way: `a` and `a/b`, `A`
    and `a` on some file systems, or longer than a file name may be."""
    return COLLECTED + hashlib.sha256(branch.encode()).hexdigest()


def _lock_file(path: Path) -> Path:
    return path.with_suffix(".lock")


def _remove(path: Path) -> None:
    """At once for everybody else, however long it takes."""
    gone = path.with_name(f"{path.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    with suppress(FileNotFoundError):
        path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
