"""What there is to collect: pairs of a repository and the name of a branch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collection.choices import DEFAULT_BRANCH, BranchState
from collection.models import Branch, Repository
from collection.querysets import RepositoryQuerySet


@dataclass(frozen=True)
class Target:
    repository_id: int
    branch_name: str


def targets_of(
    repositories: RepositoryQuerySet, *, branch_names: Sequence[str] = ()
) -> Iterator[Target]:
    """The branches that are followed. A repository of which none is known yet stands for itself,
    with its default branch; the collection finds out what that is called."""
    ids = list(repositories.order_by("pk").values_list("pk", flat=True))
    if branch_names:
        chosen = list(dict.fromkeys(branch_names))
        yield from (Target(pk, name) for pk in ids for name in chosen)
        return
    followed: dict[int, list[str]] = {pk: [] for pk in ids}
    branches = Branch.objects.filter(repository__in=repositories, state=BranchState.FOLLOWED)
    for pk, name in branches.order_by("repository", "name").values_list("repository", "name"):
        followed[pk].append(name)
    for pk, names in followed.items():
        yield from (Target(pk, name) for name in names or [DEFAULT_BRANCH])


def collectable() -> RepositoryQuerySet:
    found: RepositoryQuerySet = Repository.objects.filter(enabled=True)
    return found
