"""LLM processes: the list, one of them; cancel, and retry what failed."""

from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.jobs.api.base import OperationsView
from glossary_site.llm.api.filters import ProcessFilter
from glossary_site.llm.api.serializers import (
    CancelProcessSerializer,
    ProcessDetailSerializer,
    ProcessSerializer,
    detail_of,
)
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.services import processes

TAG = "llm"


class ProcessView(OperationsView):
    def process(self) -> LLMProcess:
        process = LLMProcess.objects.filter(pk=self.kwargs["process_id"]).first()
        if process is None:
            raise Http404(_("There is no such LLM process."))
        return process


class ProcessList(OperationsView):
    queryset = LLMProcess.objects.all()
    filterset_class = ProcessFilter
    default_ordering = "-created"
    orderings = {
        "created": "created_at",
        "finished": "finished_at",
        "cost": "cost_nano",
        "failed": "failed",
    }

    @operation(
        "llm_processes_list",
        tag=TAG,
        summary="LLM processes, the newest first (operators)",
        responses={200: ProcessSerializer(many=True)},
        errors=[400, 403, 404],
    )
    def get(self, request: Request) -> Response:
        return self.page_of(LLMProcess.objects.defer("then_payload"), ProcessSerializer)


class ProcessDetail(ProcessView):
    @operation(
        "llm_processes_get",
        tag=TAG,
        summary="One LLM process with all its facts (operators)",
        responses={200: ProcessDetailSerializer},
        errors=[403, 404],
    )
    def get(self, request: Request, process_id: UUID) -> Response:
        return Response(detail_of(self.process()))


class ProcessCancel(ProcessView):
    @operation(
        "llm_processes_cancel",
        tag=TAG,
        summary="Stop an LLM process (operators)",
        description=(
            "Answers that are there stay. A batch is cancelled at its provider: until that is "
            "done, the status is `CANCELLING`."
        ),
        request=CancelProcessSerializer,
        responses={200: ProcessDetailSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, process_id: UUID) -> Response:
        process = self.process()
        reason = self.body(CancelProcessSerializer).get("reason", "")
        processes.cancel(process.pk, actor=self.actor, reason=reason)
        return Response(detail_of(self.process()))


class ProcessRetry(ProcessView):
    @operation(
        "llm_processes_retry",
        tag=TAG,
        summary="Send the failed requests of an ended LLM process again (operators)",
        request=None,
        responses={200: ProcessDetailSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, process_id: UUID) -> Response:
        processes.retry(self.process().pk, actor=self.actor)
        return Response(detail_of(self.process()))
