"""Workers: who is there, and taking a node out of service."""

from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.jobs.api.base import OperationsView
from glossary_site.jobs.api.filters import WorkerFilter
from glossary_site.jobs.api.runs import TAG
from glossary_site.jobs.api.serializers import NodeSerializer, WorkerSerializer
from glossary_site.jobs.models import Worker
from glossary_site.jobs.services.workers import drain_node


class WorkerList(OperationsView):
    queryset = Worker.objects.all()
    filterset_class = WorkerFilter
    default_ordering = "name"
    orderings = {"name": "name", "started": "started_at", "heartbeat": "heartbeat_at"}

    @operation(
        "workers_list",
        tag=TAG,
        summary="The worker processes that are there (operators)",
        responses={200: WorkerSerializer(many=True)},
        errors=[400, 403, 404],
    )
    def get(self, request: Request) -> Response:
        return self.page_of(Worker.objects.present(), WorkerSerializer)


class NodeView(OperationsView):
    draining = True

    def answer(self, node: str) -> Response:
        # PostgreSQL cannot hold NUL, so no node has it in its name.
        node = node.replace("\0", "")
        processes = drain_node(node, actor=self.actor, draining=self.draining)
        return Response({"node": node, "draining": self.draining, "processes": processes})


class NodeDrain(NodeView):
    @operation(
        "workers_drain",
        tag=TAG,
        summary="Let a node finish what it has in hand and take nothing new (operators)",
        request=None,
        responses={200: NodeSerializer},
        errors=[403, 404],
    )
    def post(self, request: Request, node: str) -> Response:
        return self.answer(node)


class NodeUndrain(NodeView):
    draining = False

    @operation(
        "workers_undrain",
        tag=TAG,
        summary="Let a node take work again (operators)",
        request=None,
        responses={200: NodeSerializer},
        errors=[403, 404],
    )
    def post(self, request: Request, node: str) -> Response:
        return self.answer(node)
