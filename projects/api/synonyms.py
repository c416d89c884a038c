"""Terms that mean the same, by their words."""

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from projects.access import Action
from projects.api.base import ProjectView
from projects.api.term_serializers import (
    GroupAddSerializer,
    GroupSerializer,
    MemberTextSerializer,
    PrimarySerializer,
)
from projects.models import Project, SynonymGroup, Term
from projects.order import by_index
from projects.services.synonyms import (
    add_to_group,
    dissolve,
    make_group,
    remove_from_group,
    set_primary,
    terms_named,
)
from projects.terms.keys import key_of

TAG = "terms"


def rows_of(project: Project) -> QuerySet[SynonymGroup]:
    names = Term.objects.only("text", "group").order_by("reading", "pk")
    return (
        SynonymGroup.objects.filter(project=project)
        .select_related("primary", "project")
        .prefetch_related(Prefetch("terms", names))
    )


class GroupView(ProjectView):
    def group(self, action: Action = Action.VIEW) -> SynonymGroup:
        group = rows_of(self.project(action)).filter(pk=self.kwargs["group_id"]).first()
        if group is None:
            raise Http404(_("This project has no such synonym group."))
        return group

    def shown(self, group: SynonymGroup, *, code: int = status.HTTP_200_OK) -> Response:
        row = rows_of(group.project).get(pk=group.pk)
        return Response(GroupSerializer(row).data, status=code)


class GroupList(GroupView):
    queryset = SynonymGroup.objects.all()
    default_ordering = "primary"
    orderings = {"primary": by_index(reading="primary__reading"), "created": "created_at"}

    @operation(
        "synonym_groups_list",
        tag=TAG,
        summary="The synonym groups of a project",
        responses={200: GroupSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(rows_of(self.project()), GroupSerializer)

    @operation(
        "synonym_groups_add",
        tag=TAG,
        summary="Say that terms mean the same (editors)",
        request=GroupAddSerializer,
        responses={201: GroupSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        wish = self.body(GroupAddSerializer)
        with transaction.atomic():
            texts = [wish["primary"], *wish["members"]]
            terms = terms_named(project=project, texts=texts, actor=self.actor)
            group = make_group(project=project, primary=terms[0], terms=terms[1:], actor=self.actor)
        return self.shown(group, code=status.HTTP_201_CREATED)


class GroupDetail(GroupView):
    @operation(
        "synonym_groups_get",
        tag=TAG,
        summary="One synonym group",
        responses={200: GroupSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, group_id: int) -> Response:
        return Response(GroupSerializer(self.group()).data)

    @operation(
        "synonym_groups_change",
        tag=TAG,
        summary="Choose another primary among the members (editors)",
        request=PrimarySerializer(partial=True),
        responses={200: GroupSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def patch(self, request: Request, project_id: int, group_id: int) -> Response:
        group = self.group(Action.EDIT)
        wish = self.body(PrimarySerializer, partial=True)
        if "primary" in wish:
            term = Term.objects.filter(group=group, key=key_of(wish["primary"])).first()
            if term is None:
                raise Http404(_("This term is not in the group."))
            set_primary(group=group, term=term, actor=self.actor)
        return self.shown(group)

    @operation(
        "synonym_groups_dissolve",
        tag=TAG,
        summary="Dissolve a group: its terms stand for themselves again (editors)",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int, group_id: int) -> Response:
        dissolve(group=self.group(Action.EDIT), actor=self.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class GroupMembers(GroupView):
    @operation(
        "synonym_groups_add_member",
        tag=TAG,
        summary="Add a term to a group (editors)",
        request=MemberTextSerializer,
        responses={200: GroupSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int, group_id: int) -> Response:
        group = self.group(Action.EDIT)
        text = self.body(MemberTextSerializer)["text"]
        with transaction.atomic():
            (term,) = terms_named(project=group.project, texts=[text], actor=self.actor)
            add_to_group(group=group, term=term, actor=self.actor)
        return self.shown(group)


class GroupMember(GroupView):
    @operation(
        "synonym_groups_remove_member",
        tag=TAG,
        summary="Take a term out of a group (editors)",
        description="Not the primary; a group of which one term would be left is dissolved.",
        responses={204: None},
        errors=[403, 404, 409],
    )
    def delete(self, request: Request, project_id: int, group_id: int, term_id: int) -> Response:
        group = self.group(Action.EDIT)
        member = Term.objects.filter(group=group, pk=term_id).first()
        if member is None:
            raise Http404(_("This term is not in the group."))
        remove_from_group(term=member, actor=self.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)
