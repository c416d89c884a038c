"""Commits and lines by time, and the people behind them: what the pages show, for programs."""

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api.base import TAG
from collection.api.statistics_serializers import (
    AuthorSerializer,
    FilterQuerySerializer,
    IdentitySerializer,
    MergedSerializer,
    MergeSerializer,
    MergeUndoneSerializer,
    StatisticsSerializer,
    sentences,
)
from collection.identities import Identity
from collection.services.authors import merge_authors, split_identity, undo_merge
from collection.statistics.asking import BadFilter, Filter
from collection.statistics.counting import people_totals, statistics
from glossary_site.api.schema import operation
from projects.access import Action
from projects.api.base import ProjectView

# What a program calls it in every list, and the page more shortly in its address.
LONG, SHORT = "include_unreachable", "unreachable"


def filter_of(request: Request) -> Filter:
    """From the parameters that the page has in its address."""
    query = request.query_params.copy()
    if LONG in query:
        query.setlist(SHORT, query.getlist(LONG))
    try:
        return Filter.from_query(query)
    except BadFilter as bad:
        fields = sentences(bad)
        if LONG in query and SHORT in fields:
            fields[LONG] = fields.pop(SHORT)
        raise ValidationError(fields) from bad


class Statistics(ProjectView):
    @operation(
        "statistics_get",
        tag=TAG,
        summary="Commits and lines added and deleted, by week or month",
        description=(
            "With the parameters that the page has in its address. A commit that several branches "
            "have counts once, unless they are counted one by one (`by=branch`)."
        ),
        parameters=[FilterQuerySerializer],
        responses={200: StatisticsSerializer},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        project = self.project()
        asked = filter_of(request)
        counted = statistics(project, asked)
        return Response(StatisticsSerializer({"filter": asked.as_json(), "counted": counted}).data)


class AuthorList(ProjectView):
    # A list that is counted: it has one order, and filters of its own.
    filter_backends = []

    @operation(
        "authors_list",
        tag=TAG,
        summary="The people behind the commits with their names, the busiest first",
        description="The parameters are those of the statistics.",
        parameters=[FilterQuerySerializer],
        responses={200: AuthorSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        people: Any = people_totals(self.project(), filter_of(request))
        page = self.paginate_queryset(people)
        return self.get_paginated_response(AuthorSerializer(page, many=True).data)


class AuthorMerge(ProjectView):
    @operation(
        "authors_merge",
        tag=TAG,
        summary="Say that several names are one person (editors)",
        description=(
            "A name that has others already brings them along. What people say wins over the mail "
            "maps of repositories."
        ),
        request=MergeSerializer,
        responses={200: MergedSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        wish = self.body(MergeSerializer)
        merged = merge_authors(
            project=project,
            into=Identity(**wish["into"]),
            identities=[Identity(**each) for each in wish["identities"]],
            actor=self.actor,
        )
        return Response(MergedSerializer(merged).data)


class AuthorSplit(ProjectView):
    @operation(
        "authors_split",
        tag=TAG,
        summary="Say that a name is a person of its own (editors)",
        request=IdentitySerializer,
        responses={200: IdentitySerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        identity = Identity(**self.body(IdentitySerializer))
        split_identity(project=project, identity=identity, actor=self.actor)
        return Response(IdentitySerializer(identity).data)


class AuthorMergeUndo(ProjectView):
    @operation(
        "authors_merge_undo",
        tag=TAG,
        summary="Take a merge of authors back (editors)",
        description="Names that somebody has moved on since stay where they are.",
        request=None,
        responses={200: MergeUndoneSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, project_id: int, merge_id: int) -> Response:
        project = self.project(Action.EDIT)
        count = undo_merge(project=project, entry_id=merge_id, actor=self.actor)
        return Response(MergeUndoneSerializer({"identities": count}).data)
