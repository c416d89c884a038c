"""Repositories: list, add, look at, change, remove, and ask whether they answer."""

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_201_CREATED, HTTP_204_NO_CONTENT

from collection.api.base import LOCATION, TAG, RepositoryView
from collection.api.filters import RepositoryFilter
from collection.api.serializers import (
    RepositoryChangeSerializer,
    RepositoryCheckSerializer,
    RepositoryDeleteQuerySerializer,
    RepositoryFieldsSerializer,
    RepositorySerializer,
    RepositoryTrySerializer,
)
from collection.models import Repository
from collection.services.repositories import (
    add_repository,
    change_repository,
    check_repository,
    remove_repository,
    set_enabled,
    try_connection,
)
from glossary_site.api.schema import operation
from projects.access import Action

ADDRESSES = (
    "Folders of the server have to be below those that an operator allows. Addresses over the "
    "network go through the same guard as every other; credentials do not belong in them."
)


class RepositoryList(RepositoryView):
    queryset = Repository.objects.all()
    filterset_class = RepositoryFilter
    orderings = {"name": "name", "created": "created_at", "checked": "checked_at"}
    default_ordering = "name"

    @operation(
        "repositories_list",
        tag=TAG,
        summary="The repositories of a project, and those that are for all projects",
        responses={200: RepositorySerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.repositories(), RepositorySerializer)

    @operation(
        "repositories_add",
        tag=TAG,
        summary="Add a repository to a project (owners)",
        description=(
            f"{ADDRESSES} It is not asked yet: `test` does that, and the next collection. One that "
            "the project has already is refused with `repository_exists` and `repository_id`."
        ),
        parameters=[LOCATION],
        request=RepositoryFieldsSerializer,
        responses={201: RepositorySerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.MANAGE)
        wish = self.body(RepositoryFieldsSerializer)
        added = add_repository(project=project, actor=self.actor, **wish)
        return Response(
            RepositorySerializer(added).data,
            status=HTTP_201_CREATED,
            headers={"Location": reverse("api-repository", args=[project_id, added.pk])},
        )


class RepositoryDetail(RepositoryView):
    @operation(
        "repositories_get",
        tag=TAG,
        summary="One repository",
        responses={200: RepositorySerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, repository_id: int) -> Response:
        return Response(RepositorySerializer(self.repository()).data)

    @operation(
        "repositories_change",
        tag=TAG,
        summary="Change a repository (owners)",
        description=(
            f"Only what is sent. {ADDRESSES} Where the next collection would delete documents "
            "because of it, it is refused with `documents_would_go`: how many go for `certain`, "
            "how many are read from elsewhere and `possible`, how many are `staying`, the first "
            "`paths`, and what to send back as `confirm`."
        ),
        request=RepositoryChangeSerializer(partial=True),
        responses={200: RepositorySerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, project_id: int, repository_id: int) -> Response:
        repository = self.repository(Action.MANAGE)
        changes = self.body(RepositoryChangeSerializer, partial=True)
        enabled = changes.pop("enabled", None)
        # First what may be refused.
        if changes:
            change_repository(repository=repository, actor=self.actor, **changes)
        if enabled is not None:
            set_enabled(repository=repository, enabled=enabled, actor=self.actor)
        return Response(RepositorySerializer(self.repository()).data)

    @operation(
        "repositories_remove",
        tag=TAG,
        summary="Remove a repository with its commits (owners)",
        description="Documents that came from it stay, unless they are to go as well.",
        parameters=[RepositoryDeleteQuerySerializer],
        responses={204: None},
        errors=[400, 403, 404, 409],
    )
    def delete(self, request: Request, project_id: int, repository_id: int) -> Response:
        repository = self.repository(Action.MANAGE)
        query = self.query(RepositoryDeleteQuerySerializer)
        remove_repository(repository=repository, actor=self.actor, **query)
        return Response(status=HTTP_204_NO_CONTENT)


class RepositoryTry(RepositoryView):
    @operation(
        "repositories_try",
        tag=TAG,
        summary="Ask an address what it has, before it is added (owners)",
        description=f"Nothing is stored. {ADDRESSES}",
        request=RepositoryTrySerializer,
        responses={200: RepositoryCheckSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        self.project(Action.MANAGE)
        checked = try_connection(**self.body(RepositoryTrySerializer))
        return Response(RepositoryCheckSerializer(checked).data)


class RepositoryTest(RepositoryView):
    @operation(
        "repositories_test",
        tag=TAG,
        summary="Ask a repository what it has, and say what is wrong (owners)",
        description=(
            "The answer is 200 whatever the repository says: `state` and `message` are what was "
            "found. It is stored, and branches that match are followed from now on."
        ),
        request=None,
        responses={200: RepositoryCheckSerializer},
        errors=[403, 404],
    )
    def post(self, request: Request, project_id: int, repository_id: int) -> Response:
        checked = check_repository(self.repository(Action.MANAGE), actor=self.actor)
        return Response(RepositoryCheckSerializer(checked).data)
