"""Bulk collections: start, list, look at, cancel, try failed targets again, do the rest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_201_CREATED

from collection.access import may_collect_all
from collection.api.base import LOCATION, TAG, CollectionView
from collection.api.collection_serializers import (
    CollectionResultSerializer,
    CollectionSerializer,
    CollectionStartSerializer,
    CollectionSummarySerializer,
)
from collection.api.filters import CollectionFilter, ResultFilter
from collection.models import BulkCollectionResult, BulkCollectionRun, Repository
from collection.services.ending import cancel
from collection.services.starting import resume, retry_failed, start
from collection.services.summaries import summary
from glossary_site.api.schema import operation
from projects.access import Action
from projects.models import Project

TRIGGERED_BY = "api"
ONE_AT_A_TIME = (
    "One collection is running at a time on the whole site: another is refused with "
    "`collection_running`, and `run_id` says which, if you may see it."
)


def begun(run: BulkCollectionRun) -> Response:
    return Response(
        CollectionSerializer(run).data,
        status=HTTP_201_CREATED,
        headers={"Location": reverse("api-collection", args=[run.pk])},
    )


class CollectionList(CollectionView):
    queryset = BulkCollectionRun.objects.all()
    filterset_class = CollectionFilter
    orderings = {"started": "started_at"}
    default_ordering = "-started"

    @operation(
        "collections_list",
        tag=TAG,
        summary="The bulk collections of your projects, the newest first",
        description=(
            "Also those over all projects that have a target in one of yours; people who may "
            "collect everything see every one. Its counts are those of the targets that you see."
        ),
        responses={200: CollectionSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request) -> Response:
        page: Any = self.paginate_queryset(self.filter_queryset(self.runs()))
        return self.get_paginated_response(CollectionSerializer(self.as_seen(page), many=True).data)

    @operation(
        "collections_start",
        tag=TAG,
        summary="Collect what is new (editors; over all projects: operators)",
        description=(
            f"{ONE_AT_A_TIME} Without a project it takes the permission to collect all "
            "repositories. Refused with `nothing_to_collect` when no branch is followed."
        ),
        parameters=[LOCATION],
        request=CollectionStartSerializer,
        responses={201: CollectionSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request) -> Response:
        wish = self.body(CollectionStartSerializer)
        project = self.project_of(wish.get("project"), Action.EDIT)
        chosen = wish.get("repositories")
        run = start(
            actor=self.actor,
            project=project,
            repositories=None if chosen is None else repositories_of(project, chosen),
            branch_names=wish.get("branches", ()),
            since=wish.get("since"),
            triggered_by=TRIGGERED_BY,
        )
        return begun(run)


class CollectionDetail(CollectionView):
    @operation(
        "collections_get",
        tag=TAG,
        summary="One bulk collection",
        responses={200: CollectionSerializer},
        errors=[404],
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        (run,) = self.as_seen([self.run()])
        return Response(CollectionSerializer(run).data)

    @operation(
        "collections_cancel",
        tag=TAG,
        summary="Stop a bulk collection (editors; over all projects: operators)",
        description=(
            "It stays, with what has been collected. Targets that were pending stay so, and "
            "`resume` does them. One that has ended is refused with `collection_not_running`."
        ),
        responses={200: CollectionSerializer},
        errors=[403, 404, 409],
    )
    def delete(self, request: Request, run_id: UUID) -> Response:
        return Response(CollectionSerializer(cancel(self.run(Action.EDIT), actor=self.actor)).data)


class CollectionRetry(CollectionView):
    @operation(
        "collections_retry",
        tag=TAG,
        summary="Collect the failed targets of an ended one again (editors)",
        description=f"The answer is the collection that does. {ONE_AT_A_TIME}",
        parameters=[LOCATION],
        request=None,
        responses={201: CollectionSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        run = self.run(Action.EDIT)
        return begun(retry_failed(run, actor=self.actor, triggered_by=TRIGGERED_BY))


class CollectionResume(CollectionView):
    @operation(
        "collections_resume",
        tag=TAG,
        summary="Collect the targets that were pending when one was cancelled (editors)",
        description=f"The answer is the collection that does. {ONE_AT_A_TIME}",
        parameters=[LOCATION],
        request=None,
        responses={201: CollectionSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        run = self.run(Action.EDIT)
        return begun(resume(run, actor=self.actor, triggered_by=TRIGGERED_BY))


class CollectionResults(CollectionView):
    queryset = BulkCollectionResult.objects.all()
    filterset_class = ResultFilter
    orderings = {"id": "pk", "processed": "processed_at", "new_commits": "new_commits_count"}
    default_ordering = "id"

    @operation(
        "collections_results",
        tag=TAG,
        summary="What became of each target: a branch of a repository",
        description="Of a collection over all projects, those that you may see.",
        responses={200: CollectionResultSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        return self.page_of(self.results(), CollectionResultSerializer)


class CollectionSummary(CollectionView):
    @operation(
        "collections_summary",
        tag=TAG,
        summary="A bulk collection in numbers",
        responses={200: CollectionSummarySerializer},
        errors=[404],
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        run = self.run()
        told = summary(run)
        if run.project_id is None and not may_collect_all(self.actor):
            (seen,) = self.as_seen([run])
            told = replace(
                told,
                total_targets=seen.total_targets,
                success_count=seen.success_count,
                failed_count=seen.failed_count,
                pending_count=seen.pending_count,
                new_commits=seen.new_commits,
            )
        return Response(CollectionSummarySerializer(told).data)


def repositories_of(project: Project | None, ids: Sequence[int]) -> list[Repository]:
    """Those of the project, or any for whoever may collect everything."""
    known = (
        Repository.objects.all() if project is None else Repository.objects.filter(project=project)
    )
    found = known.in_bulk(set(ids))
    missing = sorted(set(ids) - set(found))
    if missing:
        sentence = _("There is no such repository here: %(ids)s.")
        ids_shown = ", ".join(map(str, missing))
        raise ValidationError({"repositories": [sentence % {"ids": ids_shown}]})
    return list(found.values())
