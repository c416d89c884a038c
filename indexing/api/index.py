"""The index of a project: how far it is, its requests; try failed ones again, have it made anew."""

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.errors import Refusal
from indexing.api.filters import IndexRequestFilter
from indexing.api.serializers import (
    IndexOverviewSerializer,
    IndexRequestSerializer,
    QueuedSerializer,
    RebuildSerializer,
)
from indexing.models import IndexRequest
from indexing.services.requests import rebuild, retry_requests
from indexing.services.status import index_status
from projects.access import Action
from projects.api.base import ProjectView
from projects.models import Project

TAG = "search"


class IndexOverview(ProjectView):
    @operation(
        "index_get",
        tag=TAG,
        summary="How far the index of a project is",
        responses={200: IndexOverviewSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return Response(IndexOverviewSerializer(index_status(self.project())).data)


class IndexRequestList(ProjectView):
    queryset = IndexRequest.objects.all()
    filterset_class = IndexRequestFilter
    default_ordering = "-id"
    orderings = {"id": "pk", "due": "due_at", "created": "created_at", "completed": "completed_at"}

    @operation(
        "index_requests_list",
        tag=TAG,
        summary="The index requests of a project, the newest first",
        description="Every change of a text makes one. Those that ended are removed after a while.",
        responses={200: IndexRequestSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        requests = IndexRequest.objects.for_project(self.project()).listed()
        return self.page_of(requests, IndexRequestSerializer)


class IndexRequestRetry(ProjectView):
    @operation(
        "index_requests_retry",
        tag=TAG,
        summary="Try a failed index request again now (editors)",
        request=None,
        responses={200: IndexRequestSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, project_id: int, request_id: int) -> Response:
        project = self.project(Action.EDIT)
        if retry_requests(project=project, actor=self.actor, request_ids=[request_id]):
            return Response(IndexRequestSerializer(request_of(project, request_id)).data)
        found = request_of(project, request_id)
        raise Refusal(
            "request_not_failed",
            _("Only a failed request can be tried again, and only for the text that is newest."),
            status=409,
            request_status=found.status,
        )


class IndexRetry(ProjectView):
    @operation(
        "index_retry",
        tag=TAG,
        summary="Try all failed index requests of a project again now (editors)",
        request=None,
        responses={202: QueuedSerializer},
        errors=[403, 404],
    )
    def post(self, request: Request, project_id: int) -> Response:
        count = retry_requests(project=self.project(Action.EDIT), actor=self.actor)
        return Response({"requests": count}, status=status.HTTP_202_ACCEPTED)


class IndexRebuild(ProjectView):
    @operation(
        "index_rebuild",
        tag=TAG,
        summary="Have documents indexed anew (editors)",
        description="Searches go on finding what is there until the new sections replace it.",
        request=RebuildSerializer,
        responses={202: QueuedSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        wish = self.body(RebuildSerializer)
        count = rebuild(
            project=project, actor=self.actor, paths=wish.get("paths"), force=wish["force"]
        )
        return Response({"requests": count}, status=status.HTTP_202_ACCEPTED)


def request_of(project: Project, request_id: int) -> IndexRequest:
    found = IndexRequest.objects.for_project(project).listed().filter(pk=request_id).first()
    if found is None:
        raise Http404(_("This project has no such index request."))
    return found
