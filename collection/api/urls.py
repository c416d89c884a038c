"""Addresses without a trailing slash; `ApiMiddleware` takes them with one as well."""

from django.urls import path

from collection.api.branches import BranchCommits, BranchImpact, BranchList
from collection.api.collections import (
    CollectionDetail,
    CollectionList,
    CollectionResults,
    CollectionResume,
    CollectionRetry,
    CollectionSummary,
)
from collection.api.commits import CommitDetail, CommitList
from collection.api.repositories import (
    RepositoryDetail,
    RepositoryList,
    RepositoryTest,
    RepositoryTry,
)
from collection.api.saved_filters import SavedFilterDetail, SavedFilterList
from collection.api.statistics import (
    AuthorList,
    AuthorMerge,
    AuthorMergeUndo,
    AuthorSplit,
    Statistics,
)

PROJECT = "projects/<int:project_id>"
REPOSITORIES = f"{PROJECT}/repositories"
REPOSITORY = f"{REPOSITORIES}/<int:repository_id>"
BRANCH = f"{REPOSITORY}/branches/<int:branch_id>"
COMMITS = f"{PROJECT}/commits"
STATISTICS = f"{PROJECT}/statistics"
AUTHORS = f"{PROJECT}/authors"
COLLECTIONS = "bulk-collections"
COLLECTION = f"{COLLECTIONS}/<uuid:run_id>"

urlpatterns = [
    path(REPOSITORIES, RepositoryList.as_view(), name="api-repositories"),
    path(f"{REPOSITORIES}/test", RepositoryTry.as_view(), name="api-repository-try"),
    path(REPOSITORY, RepositoryDetail.as_view(), name="api-repository"),
    path(f"{REPOSITORY}/test", RepositoryTest.as_view(), name="api-repository-test"),
    path(f"{REPOSITORY}/branches", BranchList.as_view(), name="api-branches"),
    path(f"{BRANCH}/impact", BranchImpact.as_view(), name="api-branch-impact"),
    path(f"{BRANCH}/commits", BranchCommits.as_view(), name="api-branch-commits"),
    path(COMMITS, CommitList.as_view(), name="api-commits"),
    path(f"{COMMITS}/<int:commit_id>", CommitDetail.as_view(), name="api-commit"),
    path(STATISTICS, Statistics.as_view(), name="api-statistics"),
    path(f"{STATISTICS}/filters", SavedFilterList.as_view(), name="api-saved-filters"),
    path(
        f"{STATISTICS}/filters/<int:filter_id>",
        SavedFilterDetail.as_view(),
        name="api-saved-filter",
    ),
    path(AUTHORS, AuthorList.as_view(), name="api-authors"),
    path(f"{AUTHORS}/merge", AuthorMerge.as_view(), name="api-author-merge"),
    path(f"{AUTHORS}/split", AuthorSplit.as_view(), name="api-author-split"),
    path(
        f"{AUTHORS}/merges/<int:merge_id>/undo",
        AuthorMergeUndo.as_view(),
        name="api-author-merge-undo",
    ),
    path(COLLECTIONS, CollectionList.as_view(), name="api-collections"),
    path(COLLECTION, CollectionDetail.as_view(), name="api-collection"),
    path(f"{COLLECTION}/retry", CollectionRetry.as_view(), name="api-collection-retry"),
    path(f"{COLLECTION}/resume", CollectionResume.as_view(), name="api-collection-resume"),
    path(f"{COLLECTION}/results", CollectionResults.as_view(), name="api-collection-results"),
    path(f"{COLLECTION}/summary", CollectionSummary.as_view(), name="api-collection-summary"),
]
