"""The kinds of terms of a project; its owners add their own."""

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from projects.access import Action
from projects.api.base import ProjectView
from projects.api.term_serializers import (
    CategoriesSerializer,
    CategoryAddSerializer,
    CategoryChangeSerializer,
    CategorySerializer,
)
from projects.categories import CategoryInfo, categories_of
from projects.models import TermCategory
from projects.services.categories import add_category, delete_category, update_category

TAG = "terms"


def shown(category: TermCategory, *, code: int = status.HTTP_200_OK) -> Response:
    info = CategoryInfo(category.key, category.name, True, category.auto_exclude)
    return Response(CategorySerializer(info).data, status=code)


class CategoryList(ProjectView):
    @operation(
        "term_categories_list",
        tag=TAG,
        summary="The categories that terms of a project can have",
        responses={200: CategoriesSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        categories = categories_of(self.project())
        return Response(CategoriesSerializer({"categories": categories}).data)

    @operation(
        "term_categories_add",
        tag=TAG,
        summary="Add a category of your own (owners)",
        request=CategoryAddSerializer,
        responses={201: CategorySerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.MANAGE)
        wish = self.body(CategoryAddSerializer)
        category = add_category(project=project, actor=self.actor, **wish)
        return shown(category, code=status.HTTP_201_CREATED)


class CategoryDetail(ProjectView):
    def category(self) -> TermCategory:
        categories = self.project(Action.MANAGE).term_categories.select_related("project")
        category = categories.filter(key=self.kwargs["key"]).first()
        if category is None:
            raise Http404(_("This project has no such category of its own."))
        return category

    @operation(
        "term_categories_change",
        tag=TAG,
        summary="Rename a category, or say whether its terms are left out (owners)",
        request=CategoryChangeSerializer(partial=True),
        responses={200: CategorySerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, project_id: int, key: str) -> Response:
        category = self.category()
        wish = self.body(CategoryChangeSerializer, partial=True)
        return shown(update_category(category=category, actor=self.actor, **wish))

    @operation(
        "term_categories_delete",
        tag=TAG,
        summary="Delete a category: its terms and entries have none then (owners)",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int, key: str) -> Response:
        delete_category(category=self.category(), actor=self.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)
