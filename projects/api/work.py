"""The background work of a project: what goes on and what went on lately; cancel and retry."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.jobs.api.serializers import CancelSerializer, JobSerializer, ReasonSerializer
from glossary_site.jobs.services.runs import cancel_run, retry_run
from glossary_site.llm.api.serializers import ProcessSerializer, money
from glossary_site.llm.services import processes
from projects.access import Action
from projects.api.base import ProjectView
from projects.work import MOST_ACTIVE, MOST_ENDED, process_of, run_of, work_of

TAG = "projects"


class MonthSerializer(serializers.Serializer[Any]):
    """What language models have cost this month."""

    month = serializers.DateField(help_text="Its first day.")
    used_tokens = serializers.IntegerField()
    reserved_tokens = serializers.IntegerField(help_text="Kept back for what is under way.")
    cap_tokens = serializers.IntegerField(source="caps.tokens", allow_null=True)
    used_cost = money()
    reserved_cost = money()
    cap_cost = money(source="caps.cost")


class WorkSerializer(serializers.Serializer[Any]):
    jobs = JobSerializer(
        many=True,
        help_text=f"Those that go on (the first {MOST_ACTIVE}), then the last {MOST_ENDED} that "
        "ended; without those that only serve an LLM process.",
    )
    llm_processes = ProcessSerializer(source="processes", many=True)
    reason = ReasonSerializer(allow_null=True, help_text="Why the next job does not begin.")
    month = MonthSerializer()


class Work(ProjectView):
    @operation(
        "work_get",
        tag=TAG,
        summary="The background work of a project",
        responses={200: WorkSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return Response(WorkSerializer(work_of(self.project())).data)


class JobCancel(ProjectView):
    @operation(
        "work_job_cancel",
        tag=TAG,
        summary="End a job of the project now (editors)",
        request=CancelSerializer,
        responses={200: JobSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int, run_id: int) -> Response:
        project = self.project(Action.EDIT)
        run = run_of(project, run_id)
        reason = self.body(CancelSerializer).get("reason", "")
        cancel_run(run, actor=self.actor, reason=reason)
        return Response(JobSerializer(run_of(project, run_id)).data)


class JobRetry(ProjectView):
    @operation(
        "work_job_retry",
        tag=TAG,
        summary="Try a job of the project again now (editors); the answer is the new attempt",
        request=None,
        responses={200: JobSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, project_id: int, run_id: int) -> Response:
        project = self.project(Action.EDIT)
        attempt = retry_run(run_of(project, run_id), actor=self.actor)
        return Response(JobSerializer(run_of(project, attempt.pk)).data)


class ProcessCancel(ProjectView):
    @operation(
        "work_llm_cancel",
        tag=TAG,
        summary="Stop an LLM process of the project (editors)",
        request=CancelSerializer,
        responses={200: ProcessSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int, process_id: UUID) -> Response:
        project = self.project(Action.EDIT)
        process = process_of(project, process_id)
        reason = self.body(CancelSerializer).get("reason", "")
        processes.cancel(process.pk, actor=self.actor, reason=reason)
        return Response(ProcessSerializer(process_of(project, process_id)).data)


class ProcessRetry(ProjectView):
    @operation(
        "work_llm_retry",
        tag=TAG,
        summary="Send the failed requests of an LLM process again (editors)",
        request=None,
        responses={200: ProcessSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, project_id: int, process_id: UUID) -> Response:
        project = self.project(Action.EDIT)
        processes.retry(process_of(project, process_id).pk, actor=self.actor)
        return Response(ProcessSerializer(process_of(project, process_id)).data)
