"""Addresses without a trailing slash; `ApiMiddleware` takes them with one as well."""

from django.urls import path

from indexing.api.index import (
    IndexOverview,
    IndexRebuild,
    IndexRequestList,
    IndexRequestRetry,
    IndexRetry,
)
from indexing.api.search import ProjectSearch, Search
from indexing.api.sections import SectionList

PROJECT = "projects/<int:project_id>"
INDEX = f"{PROJECT}/index"
DOCUMENT = f"{PROJECT}/documents/<int:document_id>"

urlpatterns = [
    path("search", Search.as_view(), name="api-search"),
    path(f"{PROJECT}/search", ProjectSearch.as_view(), name="api-project-search"),
    path(INDEX, IndexOverview.as_view(), name="api-index"),
    path(f"{INDEX}/requests", IndexRequestList.as_view(), name="api-index-requests"),
    path(
        f"{INDEX}/requests/<int:request_id>/retry",
        IndexRequestRetry.as_view(),
        name="api-index-request-retry",
    ),
    path(f"{INDEX}/retry", IndexRetry.as_view(), name="api-index-retry"),
    path(f"{INDEX}/rebuild", IndexRebuild.as_view(), name="api-index-rebuild"),
    path(f"{DOCUMENT}/sections", SectionList.as_view(), name="api-sections"),
]
