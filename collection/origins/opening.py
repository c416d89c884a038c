"""From a repository's row to whoever answers for it."""

from collections.abc import Callable

from collection.choices import Kind
from collection.models import Repository
from collection.origins.data import Origin
from collection.origins.git.origin import GitOrigin
from collection.origins.github import GitHubOrigin
from collection.origins.gitlab import GitLabOrigin

ORIGINS: dict[str, Callable[..., Origin]] = {
    Kind.LOCAL: GitOrigin,
    Kind.GIT: GitOrigin,
    Kind.GITLAB: GitLabOrigin,
    Kind.GITHUB: GitHubOrigin,
}


def open_origin(repository: Repository, *, stopped: Callable[[], bool] = lambda: False) -> Origin:
    return ORIGINS[repository.kind](repository, stopped=stopped)
