"""Projects: list, make, change, clone, delete."""

from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Lower
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_200_OK, HTTP_201_CREATED, HTTP_204_NO_CONTENT

from glossary_site.api.schema import operation
from glossary_site.api.views import ApiView
from glossary_site.people.models import User
from projects.access import Action, is_superuser, visible_projects
from projects.api.base import ProjectView
from projects.api.filters import ProjectFilter
from projects.api.serializers import CloneSerializer, ProjectSerializer, ProjectWriteSerializer
from projects.choices import Role
from projects.glance import FACTS, with_glance
from projects.models import Membership, Project
from projects.querysets import ProjectQuerySet
from projects.services.projects import (
    clone_project,
    create_project,
    delete_project,
    update_project,
)

TAG = "projects"


def rows_for(user: User) -> ProjectQuerySet:
    """The projects this person sees, with their own role and the facts at a glance."""
    roles = Membership.objects.filter(project=OuterRef("pk"), user=user).values("role")
    role = Value(Role.OWNER.value) if is_superuser(user) else Subquery(roles)
    return with_glance(visible_projects(user)).annotate(my_role=role)


def row_of(user: User, project: Project, *, status: int = HTTP_200_OK) -> Response:
    return Response(ProjectSerializer(rows_for(user).get(pk=project.pk)).data, status=status)


class ProjectList(ApiView):
    queryset = Project.objects.all()
    filterset_class = ProjectFilter
    default_ordering = "name"
    orderings = {
        "name": Lower("name"),
        "created": "created_at",
        **{fact.key: fact.sort_key for fact in FACTS},
    }

    @operation(
        "projects_list",
        tag=TAG,
        summary="The projects you are a member of; a superuser sees all",
        responses={200: ProjectSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request) -> Response:
        return self.page_of(rows_for(self.actor), ProjectSerializer)

    @operation(
        "projects_create",
        tag=TAG,
        summary="Make a project; you become its owner",
        request=ProjectWriteSerializer,
        responses={201: ProjectSerializer},
        errors=[400, 403, 409, 413, 415],
    )
    def post(self, request: Request) -> Response:
        project = create_project(actor=self.actor, **self.body(ProjectWriteSerializer))
        return row_of(self.actor, project, status=HTTP_201_CREATED)


class ProjectDetail(ProjectView):
    @operation(
        "projects_get",
        tag=TAG,
        summary="One project",
        responses={200: ProjectSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return row_of(self.actor, self.project())

    @operation(
        "projects_change",
        tag=TAG,
        summary="Rename a project or change its settings (owners)",
        request=ProjectWriteSerializer(partial=True),
        responses={200: ProjectSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.MANAGE)
        changes = self.body(ProjectWriteSerializer, partial=True)
        return row_of(self.actor, update_project(project=project, actor=self.actor, **changes))

    @operation(
        "projects_delete",
        tag=TAG,
        summary="Delete a project with everything in it (owners)",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int) -> Response:
        delete_project(project=self.project(Action.MANAGE), actor=self.actor)
        return Response(status=HTTP_204_NO_CONTENT)


class ProjectClone(ProjectView):
    @operation(
        "projects_clone",
        tag=TAG,
        summary="A new project of yours with the same settings and documents",
        request=CloneSerializer,
        responses={201: ProjectSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project()
        name = self.body(CloneSerializer)["name"]
        clone = clone_project(project=project, actor=self.actor, name=name)
        return row_of(self.actor, clone, status=HTTP_201_CREATED)
