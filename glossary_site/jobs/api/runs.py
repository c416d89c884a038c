"""Jobs: how they are doing on the whole, the list, one of them, its log; cancel and retry."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.jobs.api.base import OperationsView
from glossary_site.jobs.api.filters import JobFilter
from glossary_site.jobs.api.serializers import (
    CancelSerializer,
    JobDetailSerializer,
    JobSerializer,
    LogQuerySerializer,
    LogSerializer,
    OverviewSerializer,
)
from glossary_site.jobs.logs import PAGE, log_lines
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.overview import overview
from glossary_site.jobs.reasons import reasons, why
from glossary_site.jobs.services.runs import cancel_run, retry_run

TAG = "operations"


def detail_of(run: JobRun) -> dict[str, Any]:
    run.reason = None if run.ended else why(run, overview())  # type: ignore[attr-defined]
    return JobDetailSerializer(run).data


class Operations(OperationsView):
    @operation(
        "operations",
        tag=TAG,
        summary="How background work is doing, and why it does not go on (operators)",
        responses={200: OverviewSerializer},
        errors=[403],
    )
    def get(self, request: Request) -> Response:
        view = overview()
        return Response(OverviewSerializer({"view": view, "reasons": reasons(view)}).data)


class JobList(OperationsView):
    queryset = JobRun.objects.all()
    filterset_class = JobFilter
    default_ordering = "-id"
    orderings = {
        "id": "pk",
        "kind": "kind",
        "due": "due_at",
        "created": "created_at",
        "finished": "finished_at",
    }

    @operation(
        "jobs_list",
        tag=TAG,
        summary="Jobs, the newest first (operators)",
        responses={200: JobSerializer(many=True)},
        errors=[400, 403, 404],
    )
    def get(self, request: Request) -> Response:
        return self.page_of(JobRun.objects.defer("payload", "result"), JobSerializer)


class JobDetail(OperationsView):
    @operation(
        "jobs_get",
        tag=TAG,
        summary="One job with all its facts (operators)",
        responses={200: JobDetailSerializer},
        errors=[403, 404],
    )
    def get(self, request: Request, run_id: int) -> Response:
        return Response(detail_of(self.run()))


class JobCancel(OperationsView):
    @operation(
        "jobs_cancel",
        tag=TAG,
        summary="End a job now (operators)",
        description="A job that is running is told within a second or so.",
        request=CancelSerializer,
        responses={200: JobDetailSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, run_id: int) -> Response:
        run = self.run()
        reason = self.body(CancelSerializer).get("reason", "")
        cancel_run(run, actor=self.actor, reason=reason)
        return Response(detail_of(self.run()))


class JobRetry(OperationsView):
    @operation(
        "jobs_retry",
        tag=TAG,
        summary="Try a job again now (operators)",
        description=(
            "After an end without success: a new attempt. Where one waits for its time already, "
            "that one begins now. The answer is the attempt."
        ),
        request=None,
        responses={200: JobDetailSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, run_id: int) -> Response:
        attempt = retry_run(self.run(), actor=self.actor)
        return Response(detail_of(JobRun.objects.get(pk=attempt.pk)))


class JobLogs(OperationsView):
    @operation(
        "jobs_logs",
        tag=TAG,
        summary="The log of a job, the oldest lines first (operators)",
        parameters=[LogQuerySerializer],
        responses={200: LogSerializer},
        errors=[400, 403, 404],
    )
    def get(self, request: Request, run_id: int) -> Response:
        run = self.run()
        query = self.query(LogQuerySerializer)
        lines = log_lines(run, after=query["after"], limit=min(query["limit"], PAGE))
        last = lines[-1].id if lines else query["after"]
        return Response(LogSerializer({"lines": lines, "last": last}).data)
