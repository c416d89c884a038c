"""Views of the statistics that people keep under a name."""

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_201_CREATED, HTTP_204_NO_CONTENT

from collection.api.base import TAG
from collection.api.statistics_serializers import (
    SavedFilterNameSerializer,
    SavedFilterSerializer,
    SavedFilterWriteSerializer,
)
from collection.models import SavedFilter
from collection.services.filters import delete_filter, rename_filter, save_filter
from glossary_site.api.schema import operation
from projects.access import Action
from projects.api.base import ProjectView


class SavedFilterView(ProjectView):
    def filters(self, action: Action = Action.VIEW) -> QuerySet[SavedFilter]:
        rows = SavedFilter.objects.filter(project=self.project(action))
        return rows.select_related("project", "made_by")

    def saved(self, action: Action = Action.VIEW) -> SavedFilter:
        found = self.filters(action).filter(pk=self.kwargs["filter_id"]).first()
        if found is None:
            raise Http404(_("This project has no such filter."))
        return found


class SavedFilterList(SavedFilterView):
    queryset = SavedFilter.objects.all()
    orderings = {"name": "name", "created": "created_at"}
    default_ordering = "name"

    @operation(
        "saved_filters_list",
        tag=TAG,
        summary="The views of the statistics that were kept under a name",
        responses={200: SavedFilterSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.filters(), SavedFilterSerializer)

    @operation(
        "saved_filters_add",
        tag=TAG,
        summary="Keep a view of the statistics under a name (editors)",
        request=SavedFilterWriteSerializer,
        responses={201: SavedFilterSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        wish = self.body(SavedFilterWriteSerializer)
        saved = save_filter(
            project=project,
            name=wish["name"],
            filter=wish["filter"],
            actor=self.actor,
        )
        return Response(SavedFilterSerializer(saved).data, status=HTTP_201_CREATED)


class SavedFilterDetail(SavedFilterView):
    @operation(
        "saved_filters_get",
        tag=TAG,
        summary="One saved filter",
        responses={200: SavedFilterSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, filter_id: int) -> Response:
        return Response(SavedFilterSerializer(self.saved()).data)

    @operation(
        "saved_filters_rename",
        tag=TAG,
        summary="Give a saved filter another name (editors)",
        request=SavedFilterNameSerializer,
        responses={200: SavedFilterSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, project_id: int, filter_id: int) -> Response:
        saved = self.saved(Action.EDIT)
        name = self.body(SavedFilterNameSerializer)["name"]
        row = rename_filter(saved=saved, name=name, actor=self.actor)
        return Response(SavedFilterSerializer(row).data)

    @operation(
        "saved_filters_delete",
        tag=TAG,
        summary="Forget a saved filter (editors)",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int, filter_id: int) -> Response:
        delete_filter(saved=self.saved(Action.EDIT), actor=self.actor)
        return Response(status=HTTP_204_NO_CONTENT)
