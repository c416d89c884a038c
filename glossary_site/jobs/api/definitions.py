"""Work that begins by itself, and the events that start it."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_200_OK, HTTP_201_CREATED

from glossary_site.api.schema import operation
from glossary_site.api.views import ApiView
from glossary_site.jobs.api.base import OperationsView
from glossary_site.jobs.api.filters import DefinitionFilter
from glossary_site.jobs.api.runs import TAG, detail_of
from glossary_site.jobs.api.serializers import (
    DefinitionChangeSerializer,
    DefinitionSerializer,
    JobDetailSerializer,
    TriggerEventSerializer,
    TriggerEventWriteSerializer,
)
from glossary_site.jobs.models import JobDefinition
from glossary_site.jobs.services.definitions import run_now, update_definition
from glossary_site.jobs.services.events import receive_event

SENDING = "jobs.add_triggerevent"


class DefinitionList(OperationsView):
    queryset = JobDefinition.objects.all()
    filterset_class = DefinitionFilter
    default_ordering = "name"
    orderings = {"name": "name", "next_run": "schedule__next_run"}

    @operation(
        "job_definitions_list",
        tag=TAG,
        summary="Work that begins by itself (operators)",
        responses={200: DefinitionSerializer(many=True)},
        errors=[400, 403, 404],
    )
    def get(self, request: Request) -> Response:
        return self.page_of(JobDefinition.objects.select_related("schedule"), DefinitionSerializer)


class DefinitionDetail(OperationsView):
    @operation(
        "job_definitions_get",
        tag=TAG,
        summary="One definition (operators)",
        responses={200: DefinitionSerializer},
        errors=[403, 404],
    )
    def get(self, request: Request, definition_id: int) -> Response:
        return Response(DefinitionSerializer(self.definition()).data)

    @operation(
        "job_definitions_change",
        tag=TAG,
        summary="Switch a definition on or off (operators)",
        request=DefinitionChangeSerializer(partial=True),
        responses={200: DefinitionSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, definition_id: int) -> Response:
        definition = self.definition()
        changes = self.body(DefinitionChangeSerializer, partial=True)
        update_definition(definition, actor=self.actor, **changes)
        return Response(DefinitionSerializer(self.definition()).data)


class DefinitionRun(OperationsView):
    @operation(
        "job_definitions_run",
        tag=TAG,
        summary="Start it now, also while it is switched off (operators)",
        request=None,
        responses={201: JobDetailSerializer},
        errors=[400, 403, 404, 409],
    )
    def post(self, request: Request, definition_id: int) -> Response:
        run = run_now(self.definition(), actor=self.actor)
        return Response(detail_of(run), status=HTTP_201_CREATED)


class EventReceive(ApiView):
    """For programs elsewhere: they need one permission, and learn nothing about other work."""

    @operation(
        "events_send",
        tag=TAG,
        summary="Tell of something that may start work (needs the permission to add events)",
        description=(
            "201 the first time, and the work that it starts is on its way. The same event with "
            "the same `dedupe_key` again is 200 and starts nothing; another event with that key "
            "is 409."
        ),
        request=TriggerEventWriteSerializer,
        responses={201: TriggerEventSerializer, 200: TriggerEventSerializer},
        errors=[400, 403, 409, 413, 415],
    )
    def post(self, request: Request) -> Response:
        if not self.actor.has_perm(SENDING):
            raise PermissionDenied(
                _("Sending events needs the permission “%(permission)s”.") % {"permission": SENDING}
            )
        event, fresh = receive_event(**self.body(TriggerEventWriteSerializer), actor=self.actor)
        status = HTTP_201_CREATED if fresh else HTTP_200_OK
        return Response(TriggerEventSerializer(event).data, status=status)
