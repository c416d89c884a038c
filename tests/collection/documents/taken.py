"""What the tests of this folder do again and again."""

from collections.abc import Callable

from django.db import transaction

from collection.models import Branch, Commit, CommitPath, Repository, RepositoryFile
from collection.origins.data import Origin
from collection.services.documents import Taken, take_documents
from projects.models import Document, Project


def take(
    repository: Repository,
    origin: Origin,
    head: str = "",
    check: Callable[[], None] = lambda: None,
) -> Taken:
    """Of the repository as it is in the database now, as a collection would."""
    repository.refresh_from_db()
    head = head or origin.heads().branches["main"]
    return take_documents(repository, origin, head=head, atomic=transaction.atomic, check=check)


def collect(origin: Origin, branch: Branch) -> None:
    """The commits of a branch, as a collection stores them."""
    for batch in origin.history(origin.heads().branches[branch.name]):
        Commit.objects.bulk_create(
            (
                Commit(
                    repository=branch.repository,
                    branch=branch,
                    sha=each.sha,
                    author_name=each.author_name,
                    author_email=each.author_email,
                    committed_date=each.committed_date,
                    additions=each.additions,
                    deletions=each.deletions,
                    subject=each.subject,
                    parents=" ".join(each.parents),
                )
                for each in batch.commits
            ),
            ignore_conflicts=True,
        )


def texts(project: Project) -> dict[str, str]:
    return dict(project.documents.values_list("path", "content"))


def document_at(project: Project, path: str) -> Document:
    return project.documents.get(path=path)


def files(repository: Repository) -> dict[str, tuple[str | None, str]]:
    """Path → path of the document, and error."""
    rows = RepositoryFile.objects.filter(repository=repository)
    return {
        path: (at, error) for path, at, error in rows.values_list("path", "document__path", "error")
    }


def touches(repository: Repository) -> set[tuple[str, str]]:
    return set(CommitPath.objects.filter(repository=repository).values_list("path", "sha"))
