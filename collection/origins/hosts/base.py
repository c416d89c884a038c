"""What the origins of both hosts share."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from django.conf import settings

from collection.choices import State
from collection.models import Repository
from collection.origins.data import Closing, FileData, OriginProblem
from collection.origins.hosted import Place, place_of
from collection.origins.hosts import words
from collection.origins.hosts.http import Api
from collection.origins.hosts.reading import NotUnderstood
from glossary_site.errors import Refusal
from glossary_site.secrets import decrypt

# Beyond these an API is the wrong way to a repository, or somebody plays with us.
MOST_BRANCHES = 20_000
MOST_COMMITS = 300_000
MOST_FILES = 300_000
# Commits of one file that are asked for: what a reader of a document may look at.
TOUCHES_EACH = 20
MOST_TOUCHED = 1_000


class HostedOrigin(Closing):
    def __init__(
        self, repository: Repository, *, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._address = repository.address
        self._kind = repository.kind
        self._secret = repository.secret
        self._stopped = stopped
        self._opened: Api | None = None
        # The tree that was read last: its files are asked for more than once.
        self._tree: tuple[str, list[FileData]] = ("", [])

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def bring(self, branches: Mapping[str, str]) -> None:
        """Nothing is kept here: what is asked for comes when it is asked for."""

    @property
    def requests(self) -> int:
        """How many were sent so far."""
        return self._opened.requests if self._opened else 0

    @property
    def _api(self) -> Api:
        if self._opened is None:
            try:
                place = place_of(self._kind, self._address)
                secret = decrypt(self._secret) if self._secret else ""
            except Refusal as refusal:
                raise OriginProblem(_state_of(refusal), str(refusal)) from None
            self._opened = self._open(place, secret)
        return self._opened

    def _open(self, place: Place, secret: str) -> Api:
        raise NotImplementedError

    @contextmanager
    def _understanding(self) -> Iterator[None]:
        """What is said in a way that the API does not promise is a problem of the repository."""
        try:
            yield
        except NotUnderstood:
            raise words.not_understood(self._api.host) from None

    def _moved_to(self, project: str) -> str:
        """Its new address, of our own host: whatever a server says, it is not believed further."""
        place = place_of(self._kind, self._address)
        try:
            moved = place_of(self._kind, f"{place.url.origin}/{project}")
        except Refusal:
            raise NotUnderstood from None
        return "" if str(moved).lower() == str(place).lower() else str(moved)


def _state_of(refusal: Refusal) -> State:
    return State.DENIED if refusal.code == "secret_unreadable" else State.REFUSED


def content_limit() -> int:
    """One byte more than a document may have: enough to see that it has too many."""
    return int(settings.MAX_FILE_BYTES) + 1
