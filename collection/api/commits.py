"""The commits that a project sees: of its own repositories, and of those for all projects."""

from typing import Any

from django.db.models import OuterRef, Subquery
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api.base import TAG
from collection.api.filters import CommitFilter
from collection.api.serializers import CommitDetailSerializer, CommitSerializer
from collection.models import Commit, CommitPath, RepositoryFile
from collection.querysets import CommitQuerySet
from glossary_site.api.schema import operation
from projects.api.base import ProjectView


class CommitView(ProjectView):
    def commits(self) -> CommitQuerySet:
        return Commit.objects.seen_by(self.project()).select_related("repository", "branch")


class CommitList(CommitView):
    queryset = Commit.objects.all()
    filterset_class = CommitFilter
    orderings = {"committed_date": "committed_date"}
    default_ordering = "-committed_date"

    @operation(
        "commits_list",
        tag=TAG,
        summary="The commits that were collected, the newest first",
        description=(
            "A commit that several branches have is a row in each of them: name a `branch` to see "
            "it once. What was left behind when a history was rewritten is not shown unless asked "
            "for."
        ),
        responses={200: CommitSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.commits(), CommitSerializer)


class CommitDetail(CommitView):
    @operation(
        "commits_get",
        tag=TAG,
        summary="One commit, and the documents that it touched",
        responses={200: CommitDetailSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, commit_id: int) -> Response:
        commit = self.commits().filter(pk=commit_id).first()
        if commit is None:
            raise Http404(_("This project has no such commit."))
        commit.paths = paths_of(commit)
        return Response(CommitDetailSerializer(commit).data)


def paths_of(commit: Commit) -> list[dict[str, Any]]:
    """The files that are, or were, documents. A repository for all projects has none."""
    documents = RepositoryFile.objects.filter(
        repository=OuterRef("repository"), path=OuterRef("path")
    )
    touched = CommitPath.objects.filter(repository=commit.repository_id, sha=commit.sha)
    rows = touched.annotate(document=Subquery(documents.values("document")[:1])).order_by("path")
    return [dict(row) for row in rows.values("path", "document")]
