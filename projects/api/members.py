"""Who belongs to a project, and where I belong."""

from django.db.models import Prefetch
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.api.views import ApiView
from glossary_site.people.models import User
from projects.access import Action
from projects.api.base import ProjectView
from projects.api.serializers import (
    MemberAddSerializer,
    MemberChangeSerializer,
    MemberSerializer,
    MeSerializer,
)
from projects.models import Membership
from projects.services.members import add_member, change_role, remove_member

TAG = "members"


class MemberList(ProjectView):
    queryset = Membership.objects.all()
    default_ordering = "username"
    orderings = {"username": "user__username", "joined": "created_at"}

    @operation(
        "members_list",
        tag=TAG,
        summary="The members of a project",
        responses={200: MemberSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.project().memberships.select_related("user"), MemberSerializer)

    @operation(
        "members_add",
        tag=TAG,
        summary="Invite somebody who has an account (owners)",
        request=MemberAddSerializer,
        responses={201: MemberSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.MANAGE)
        wish = self.body(MemberAddSerializer)
        membership = add_member(project=project, actor=self.actor, **wish)
        return Response(MemberSerializer(membership).data, status=status.HTTP_201_CREATED)


class MemberDetail(ProjectView):
    def membership(self) -> Membership:
        members = self.project(Action.MANAGE).memberships.select_related("user", "project")
        membership = members.filter(user=self.kwargs["user_id"]).first()
        if membership is None:
            raise Http404(_("This project has no such member."))
        return membership

    @operation(
        "members_change",
        tag=TAG,
        summary="Give a member another role (owners)",
        request=MemberChangeSerializer(partial=True),
        responses={200: MemberSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, project_id: int, user_id: int) -> Response:
        membership = self.membership()
        # As in every PATCH: what is not sent stays.
        role = self.body(MemberChangeSerializer, partial=True).get("role", membership.role)
        membership = change_role(membership=membership, role=role, actor=self.actor)
        return Response(MemberSerializer(membership).data)

    @operation(
        "members_remove",
        tag=TAG,
        summary="Take a member out of the project (owners)",
        responses={204: None},
        errors=[403, 404, 409],
    )
    def delete(self, request: Request, project_id: int, user_id: int) -> Response:
        remove_member(membership=self.membership(), actor=self.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Me(ApiView):
    @operation(
        "me",
        tag="me",
        summary="Who you are, and your role in each project you are a member of",
        responses={200: MeSerializer},
    )
    def get(self, request: Request) -> Response:
        memberships = Membership.objects.select_related("project").order_by("project")
        mine = User.objects.prefetch_related(Prefetch("memberships", memberships))
        return Response(MeSerializer(mine.get(pk=self.actor.pk)).data)
