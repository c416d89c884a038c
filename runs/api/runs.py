"""Runs: start, list, look at, cancel, try failures again, publish; what one would take, and what
two of them differ in."""

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_200_OK, HTTP_201_CREATED

from glossary_site.api.schema import operation
from projects.access import Action
from runs.api.base import TAG, RunView, run_of
from runs.api.filters import RunFilter
from runs.api.serializers import (
    CompareQuerySerializer,
    PublicationSerializer,
    RunComparisonSerializer,
    RunDetailSerializer,
    RunEstimateSerializer,
    RunPublishSerializer,
    RunSerializer,
    RunStartSerializer,
    ScopeQuerySerializer,
)
from runs.choices import Scope
from runs.models import Run
from runs.services.comparing import compare
from runs.services.ending import cancel
from runs.services.estimates import estimate
from runs.services.failures import resume, retry_failures
from runs.services.options import RunOptions
from runs.services.publishing import publish
from runs.services.starting import start

TRIGGERED_BY = "api"


def detail_of(run: Run, *, status: int = HTTP_200_OK) -> Response:
    return Response(RunDetailSerializer(run).data, status=status)


class RunList(RunView):
    queryset = Run.objects.all()
    filterset_class = RunFilter
    orderings = {"id": "pk"}
    default_ordering = "-id"

    @operation(
        "runs_list",
        tag=TAG,
        summary="The runs of a project, the newest first",
        responses={200: RunSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.runs(), RunSerializer)

    @operation(
        "runs_start",
        tag=TAG,
        summary="Start a run (editors)",
        description=(
            "One run of a project is under way at a time: another is refused with "
            "`run_already_active`, and `run_id` says which. Also refused, each with a code and a "
            "sentence, when there is nothing to begin with: `no_documents`, `no_terms`, "
            "`no_provisional`, `no_review`."
        ),
        request=RunStartSerializer,
        responses={201: RunDetailSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        wish = self.body(RunStartSerializer)
        run = start(
            project=project,
            scope=wish["scope"],
            actor=self.actor,
            triggered_by=TRIGGERED_BY,
            options=RunOptions(limit=wish.get("limit", 0)),
        )
        return detail_of(run_of(project, run.pk), status=HTTP_201_CREATED)


class RunCurrent(RunView):
    @operation(
        "runs_current",
        tag=TAG,
        summary="The run that is under way, else the newest one",
        responses={200: RunDetailSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        runs = self.runs()
        run = runs.active().first() or runs.newest_first().first()
        if run is None:
            raise Http404(_("This project has had no run yet."))
        return detail_of(run)


class RunDetail(RunView):
    @operation(
        "runs_get",
        tag=TAG,
        summary="One run with its steps",
        responses={200: RunDetailSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, run_id: int) -> Response:
        return detail_of(self.run())

    @operation(
        "runs_cancel",
        tag=TAG,
        summary="Stop a run (editors); it stays, with what it has made so far",
        responses={200: RunDetailSerializer},
        errors=[403, 404, 409],
    )
    def delete(self, request: Request, project_id: int, run_id: int) -> Response:
        return detail_of(cancel(self.run(Action.EDIT), actor=self.actor))


class RunRetryFailures(RunView):
    @operation(
        "runs_retry_failures",
        tag=TAG,
        summary="Try the failures of a run again (editors); the answer is the run that does",
        request=None,
        responses={201: RunDetailSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, project_id: int, run_id: int) -> Response:
        project = self.project(Action.EDIT)
        run = run_of(project, run_id)
        again = retry_failures(run, actor=self.actor, triggered_by=TRIGGERED_BY)
        return detail_of(run_of(project, again.pk), status=HTTP_201_CREATED)


class RunResume(RunView):
    @operation(
        "runs_resume",
        tag=TAG,
        summary="Do the rest of a run that was stopped or failed (editors)",
        description=(
            "The answer is the run that does. What was answered is not asked again, unless the "
            "answer was no use."
        ),
        request=None,
        responses={201: RunDetailSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, project_id: int, run_id: int) -> Response:
        project = self.project(Action.EDIT)
        rest = resume(run_of(project, run_id), actor=self.actor, triggered_by=TRIGGERED_BY)
        return detail_of(run_of(project, rest.pk), status=HTTP_201_CREATED)


class RunPublish(RunView):
    @operation(
        "runs_publish",
        tag=TAG,
        summary="Copy the entries of a run into the project's glossary (editors)",
        description="What people have edited there stays as they left it.",
        request=RunPublishSerializer,
        responses={200: PublicationSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int, run_id: int) -> Response:
        run = self.run(Action.EDIT)
        wish = self.body(RunPublishSerializer)
        publication = publish(run, actor=self.actor, **wish)
        return Response(PublicationSerializer(publication).data)


class RunEstimate(RunView):
    @operation(
        "runs_estimate",
        tag=TAG,
        summary="What a run would take: terms, requests, tokens, cost and time",
        parameters=[ScopeQuerySerializer],
        responses={200: RunEstimateSerializer},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        project = self.project()
        scope = Scope(self.query(ScopeQuerySerializer)["scope"])
        return Response(RunEstimateSerializer(estimate(project, scope)).data)


class RunCompare(RunView):
    @operation(
        "runs_compare",
        tag=TAG,
        summary="What one run says that another does not",
        parameters=[CompareQuerySerializer],
        responses={200: RunComparisonSerializer},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        project = self.project()
        query = self.query(CompareQuerySerializer)
        older, newer = run_of(project, query["older"]), run_of(project, query["newer"])
        told = {"older": older.pk, "newer": newer.pk, "comparison": compare(older, newer)}
        return Response(RunComparisonSerializer(told).data)
