"""Documents and commits, joined: which commits touched a document, and which one a version of it
came from. A fixed number of questions, however many documents there are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Min, OuterRef, QuerySet, Subquery

from collection.models import Commit, CommitPath, Repository, RepositoryFile, VersionOrigin
from projects.models import Document, DocumentVersion

FEW = 5


@dataclass(frozen=True)
class Origin:
    """Where the text of a version came from. The commit is None where it was not collected, or has
    been deleted here since."""

    repository: Repository
    sha: str
    path: str
    commit: Commit | None

    @property
    def short_sha(self) -> str:
        return self.sha[:10]

    @property
    def branch(self) -> str:
        return self.commit.branch.name if self.commit else ""


def files_of(document: Document) -> QuerySet[RepositoryFile]:
    """Usually one; several where repositories bring the same path."""
    return RepositoryFile.objects.filter(document=document).select_related("repository")


def commits_of(document: Document, limit: int = FEW) -> list[Commit]:
    """Those that touched its file, newest first. Of one that several branches have, one row."""
    files = RepositoryFile.objects.filter(document=document)
    touched = CommitPath.objects.filter(
        repository__in=files.values("repository"), path__in=files.values("path")
    )
    commits = Commit.objects.filter(
        repository__in=files.values("repository"), sha__in=touched.values("sha"), unreachable=False
    )
    once = commits.order_by().values("sha").annotate(one=Min("pk")).values("one")
    rows = Commit.objects.filter(pk__in=once).select_related("repository", "branch")
    return list(rows.order_by("-committed_date", "-pk")[:limit])


def last_commit_of(documents: Iterable[int]) -> dict[int, Commit]:
    """The newest commit that touched each of them, by the document's id."""
    shas = CommitPath.objects.filter(
        repository=OuterRef(OuterRef("repository")), path=OuterRef(OuterRef("path"))
    )
    commits = Commit.objects.filter(
        repository=OuterRef("repository"), sha__in=shas.values("sha"), unreachable=False
    )
    newest = commits.order_by("-committed_date", "-pk").values("pk")[:1]
    files = RepositoryFile.objects.filter(document__in=documents).order_by()
    found = files.annotate(newest=Subquery(newest)).values_list("document_id", "newest")
    pairs = [(document, commit) for document, commit in found if commit is not None]
    rows = Commit.objects.select_related("repository", "branch").in_bulk(
        {commit for _document, commit in pairs}
    )
    last: dict[int, Commit] = {}
    for document, commit in pairs:
        last[document] = newer(last.get(document), rows[commit])
    return last


def newer(one: Commit | None, other: Commit) -> Commit:
    if one is None:
        return other
    return max(one, other, key=lambda commit: (commit.committed_date, commit.pk))


def origins_of(versions: Sequence[DocumentVersion]) -> Mapping[int, Origin]:
    """Of versions of one document, by their numbers; none where the text did not come from a
    repository."""
    if not versions:
        return {}
    rows = VersionOrigin.objects.select_related("repository").filter(
        document__in={version.document_id for version in versions},
        version__in=[version.number for version in versions],
    )
    origins = list(rows)
    commits = Commit.objects.select_related("branch").filter(
        repository__in={origin.repository_id for origin in origins},
        sha__in={origin.sha for origin in origins},
    )
    repositories = {origin.repository_id: origin.repository for origin in origins}
    by_sha: dict[tuple[int, str], Commit] = {}
    for commit in commits:
        repository = repositories[commit.repository_id]
        # Of several branches that have it, the one that documents are read from.
        ours = commit.branch.name == (repository.document_branch or repository.default_branch)
        if ours or (commit.repository_id, commit.sha) not in by_sha:
            by_sha[commit.repository_id, commit.sha] = commit
    return {
        origin.version: Origin(
            origin.repository,
            origin.sha,
            origin.path,
            by_sha.get((origin.repository_id, origin.sha)),
        )
        for origin in origins
    }
