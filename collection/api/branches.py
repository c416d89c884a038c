"""The branches of a repository; what it would mean to delete the commits of one, and the deed."""

from django.db.models import Count, IntegerField, Max, OuterRef, Subquery
from django.db.models.functions import Coalesce
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api.base import TAG, RepositoryView
from collection.api.filters import BranchFilter
from collection.api.serializers import (
    BranchImpactSerializer,
    BranchRemoveQuerySerializer,
    BranchSerializer,
)
from collection.models import Branch, Commit
from collection.services.removing import preview_branch, remove_branch_commits
from glossary_site.api.schema import operation
from projects.access import Action


class BranchList(RepositoryView):
    queryset = Branch.objects.all()
    filterset_class = BranchFilter
    orderings = {"name": "name", "collected": "collected_at"}
    default_ordering = "name"

    @operation(
        "branches_list",
        tag=TAG,
        summary="The branches of a repository, and how far each has been collected",
        responses={200: BranchSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, repository_id: int) -> Response:
        commits = Commit.objects.filter(branch=OuterRef("pk")).order_by().values("branch")
        count = Subquery(commits.annotate(n=Count("pk")).values("n"), output_field=IntegerField())
        branches = self.repository().branches.annotate(
            commit_count=Coalesce(count, 0),
            last_commit=Subquery(commits.annotate(last=Max("committed_date")).values("last")),
        )
        return self.page_of(branches, BranchSerializer)


class BranchImpact(RepositoryView):
    @operation(
        "branches_impact",
        tag=TAG,
        summary="What would go if the commits of a branch were deleted (owners)",
        responses={200: BranchImpactSerializer},
        errors=[403, 404],
    )
    def get(
        self, request: Request, project_id: int, repository_id: int, branch_id: int
    ) -> Response:
        return Response(BranchImpactSerializer(preview_branch(self.branch(Action.MANAGE))).data)


class BranchCommits(RepositoryView):
    @operation(
        "branches_delete_commits",
        tag=TAG,
        summary="Delete the commits of a branch (owners); the answer is what went",
        description=(
            "The branch stays. While it is followed, the next collection brings its commits back. "
            "Refused with `branch_in_hand` while it is being collected, and `stop_following` with "
            "`branch_wanted` when the repository would follow it again."
        ),
        parameters=[BranchRemoveQuerySerializer],
        responses={200: BranchImpactSerializer},
        errors=[400, 403, 404, 409],
    )
    def delete(
        self, request: Request, project_id: int, repository_id: int, branch_id: int
    ) -> Response:
        branch = self.branch(Action.MANAGE)
        query = self.query(BranchRemoveQuerySerializer)
        gone = remove_branch_commits(branch=branch, actor=self.actor, **query)
        return Response(BranchImpactSerializer(gone).data)
