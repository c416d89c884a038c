"""A repository that the git program speaks with: a folder of this machine, or a git address."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from django.utils.translation import gettext as _

from collection.choices import Kind, State
from collection.models import Repository
from collection.origins.data import (
    Batch,
    Closing,
    FileData,
    Heads,
    OriginProblem,
    Stored,
    Touch,
)
from collection.origins.git.access import Way, learnt_keys, local_way, ssh_way, web_way
from collection.origins.git.addresses import (
    clean_local,
    git_folder,
    is_shallow,
    ssh_target,
)
from collection.origins.git.children import GitFailed
from collection.origins.git.heads import SHA, read_heads
from collection.origins.git.history import batches, lines_of
from collection.origins.git.mirror import ChangedMeanwhile, Damaged, Mirror, mirror_folder
from collection.origins.git.moving import moved_to
from collection.origins.git.reading import (
    contents_of,
    files_of,
    mailmap_of,
    renames_between,
    touches_of,
)
from collection.origins.git.running import Git, limited
from collection.origins.git.troubles import in_words, is_no_damage, was_redirected
from glossary_site.secrets import decrypt

# A question takes a second; whoever tests a connection waits for the answer.
ASK_SECONDS = 20.0
MOST_MOVES = 3

T = TypeVar("T")


class GitOrigin(Closing):
    def __init__(
        self, repository: Repository, *, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._repository = repository
        self._stopped = stopped
        self._address = repository.address
        self._moved = False
        self._host_keys = repository.host_keys
        self._opened: Git | None = None

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def host_keys(self) -> str:
        """The keys of the host as they are known by now (ssh): to be stored with the repository."""
        return self._host_keys

    def heads(self) -> Heads:
        def ask(way: Way) -> Heads:
            streamed = self._git.stream(
                ["ls-remote", "--quiet", "--symref", *way.options, "--", way.url],
                way=way,
                seconds=ASK_SECONDS,
            )
            return read_heads(lines_of(limited(streamed)), shallow=self._is_shallow(way))

        with in_words():
            found = self._over_there(ask)
        if not self._moved:
            return found
        return replace(found, moved_to=self._address)

    def bring(self, branches: Mapping[str, str]) -> None:
        if not branches:
            return
        with in_words():
            try:
                self._over_there(lambda way: self._mirror.fetch(way, branches))
            except ChangedMeanwhile:
                raise OriginProblem(
                    State.UNREACHABLE,
                    _("The repository changed while it was being read."),
                    again=True,
                ) from None
            except Damaged as damaged:
                raise _damaged() from damaged

    def history(
        self,
        head: str,
        *,
        known: Sequence[str] = (),
        since: datetime | None = None,
        stored: Stored | None = None,
    ) -> Iterator[Batch]:
        with self._reading():
            here = self._here(head, known)
            # Beginning behind a commit that does not have these behind it would be to walk their
            # history again.
            behind = [sha for sha in here if self._is_ancestor(sha, head)]
            yield from batches(
                self._git,
                self._mirror.path,
                head,
                known=here,
                since=since,
                stored=stored,
                covers=lambda sha: all(self._is_ancestor(one, sha) for one in behind),
            )

    def contains(self, head: str, sha: str) -> bool:
        with self._reading():
            return bool(self._here(head, [sha])) and self._is_ancestor(sha, head)

    def left_behind(self, head: str, old: str) -> Iterator[str]:
        with self._reading():
            if not self._here(head, [old]) or self._is_ancestor(old, head):
                return
            with self._git.lines_in([old, f"^{head}"]) as stdin:
                walk = self._git.stream(
                    ["rev-list", "--topo-order", "--stdin"],
                    repository=self._mirror.path,
                    stdin=stdin,
                )
                for line in lines_of(walk):
                    yield line.decode()

    def files(self, head: str) -> Iterator[FileData]:
        with self._reading():
            self._here(head, ())
            yield from files_of(self._git, self._mirror.path, head)

    def renames(self, old: str, new: str) -> Mapping[str, str]:
        with self._reading():
            if not self._here(new, [old]):
                return {}
            return renames_between(self._git, self._mirror.path, old, new)

    def contents(self, head: str, files: Iterable[FileData]) -> Iterator[tuple[FileData, bytes]]:
        with self._reading():
            self._here(head, ())
            yield from contents_of(self._git, self._mirror.path, files)

    def touches(
        self, head: str, *, known: Sequence[str] = (), wanted: Callable[[str], bool]
    ) -> Iterator[Touch]:
        with self._reading():
            here = self._here(head, known)
            yield from touches_of(self._git, self._mirror.path, head, here, wanted)

    def mailmap(self, head: str) -> str:
        with self._reading():
            self._here(head, ())
            return mailmap_of(self._git, self._mirror.path, head)

    @property
    def _git(self) -> Git:
        if self._opened is None:
            self._opened = Git(stopped=self._stopped)
        return self._opened

    @property
    def _mirror(self) -> Mirror:
        assert self._repository.pk is not None, "a repository that is not saved has no copy"
        return Mirror(
            mirror_folder(self._repository.pk), self._git, made_for=self._repository.address
        )

    def _over_there(self, ask: Callable[[Way], T]) -> T:
        """Ask the repository itself, and where it says that it went."""
        if self._repository.kind == Kind.LOCAL:
            folder = git_folder(clean_local(self._address))
            return ask(local_way(folder, trusted=self._git.program.serves_safely))
        secret = decrypt(self._repository.secret) if self._repository.secret else ""
        if self._address.startswith("ssh://"):
            return self._by_ssh(ask, secret)
        for _move in range(MOST_MOVES):
            try:
                return ask(self._web_way(secret))
            except GitFailed as failed:
                if not was_redirected(failed):
                    raise
                self._address = moved_to(self._address, has_secret=bool(secret))
                self._moved = True
        raise OriginProblem(State.REFUSED, _("The host sends us from one address to the next."))

    def _web_way(self, secret: str) -> Way:
        return web_way(
            self._address,
            folder=self._git.folder,
            username=self._repository.username,
            secret=secret,
        )

    def _by_ssh(self, ask: Callable[[Way], T], secret: str) -> T:
        target = ssh_target(self._address)
        for number, to in enumerate(target.addresses, 1):
            way = ssh_way(
                self._address,
                target=target,
                to=to,
                folder=self._git.folder,
                secret=secret,
                host_keys=self._host_keys,
            )
            try:
                return ask(way)
            except GitFailed as failed:
                # Nobody there: the host may have another address at which it answers.
                if number == len(target.addresses) or "connect to host" not in failed.said:
                    raise
            finally:
                self._host_keys = learnt_keys(self._git.folder) or self._host_keys
        raise AssertionError("there is at least one address")

    def _is_shallow(self, way: Way) -> bool:
        if self._repository.kind == Kind.LOCAL:
            return is_shallow(way.url)
        return self._repository.pk is not None and self._mirror.is_shallow

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Our own copy is read: if that does not work, it is the copy that is to blame."""
        with in_words():
            try:
                yield
            except GitFailed as failed:
                if is_no_damage(failed):
                    raise
                self._mirror.discard()
                raise _damaged() from failed

    def _here(self, head: str, others: Sequence[str]) -> list[str]:
        """Those of the others that are here; the head must be."""
        others = [sha for sha in dict.fromkeys(others) if SHA.fullmatch(sha)]
        here = self._mirror.has(head, *others) if SHA.fullmatch(head) else {}
        if not here.get(head):
            raise OriginProblem(
                State.UNREACHABLE, _("Our copy of the repository is incomplete."), again=True
            )
        return [sha for sha in others if here[sha]]

    def _is_ancestor(self, sha: str, of: str) -> bool:
        try:
            self._git.read(["merge-base", "--is-ancestor", sha, of], repository=self._mirror.path)
        except GitFailed as failed:
            if failed.code != 1:
                raise
            return False
        return True


def _damaged() -> OriginProblem:
    return OriginProblem(
        State.UNREACHABLE,
        _("Our copy of the repository was damaged. It is fetched anew."),
        again=True,
    )
