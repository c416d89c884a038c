"""Terms: the lists, one term, where it stands, and many at once."""

from typing import Any

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.api.views import BIGGEST_ID
from projects.access import Action
from projects.api.base import ProjectView
from projects.api.occurrences import places_of
from projects.api.term_serializers import (
    BulkSerializer,
    ListedTermSerializer,
    OccurrenceSerializer,
    TermChangeSerializer,
    TermEditSerializer,
    TermsChangedSerializer,
    TermSerializer,
)
from projects.choices import IN_GLOSSARY, LEFT_OUT, TermStatus
from projects.models import Project, Term
from projects.order import by_index
from projects.querysets import TermQuerySet
from projects.services.terms import (
    add_term,
    delete_terms,
    list_term,
    set_category,
    set_status,
    update_term,
)

TAG = "terms"
# What `?category=` says for terms without one.
NO_CATEGORY = "-"
SEARCHED = (
    "Words in the term, another spelling or a synonym of it, its reading or its notes; the nearest "
    "first unless you name an ordering."
)
SHOWS = {
    "kept": IN_GLOSSARY,
    "required": (TermStatus.REQUIRED,),
    "excluded": LEFT_OUT,
}
STATUS_AFTER = {
    "exclude": TermStatus.EXCLUDED,
    "require": TermStatus.REQUIRED,
    "reset": TermStatus.CANDIDATE,
}


class TermFilter(filters.FilterSet):
    q = filters.CharFilter(method="search", label=SEARCHED)
    show = filters.ChoiceFilter(
        method="tab",
        choices=[(name, name) for name in SHOWS],
        label="Those that get an entry, the required, or all that are left out.",
    )
    status = filters.ChoiceFilter(choices=TermStatus.choices)
    category = filters.CharFilter(
        method="of_kind", label="A key of `term-categories`; `-` for terms without one."
    )
    group = filters.NumberFilter(
        field_name="group",
        min_value=0,
        max_value=BIGGEST_ID,
        decimal_places=0,
        label="A synonym group.",
    )

    class Meta:
        model = Term
        fields = ("q", "show", "status", "category", "group")

    def search(self, rows: TermQuerySet, name: str, text: str) -> TermQuerySet:
        return rows.matching(text)

    def tab(self, rows: TermQuerySet, name: str, show: str) -> TermQuerySet:
        return rows.filter(status__in=SHOWS[show])

    def of_kind(self, rows: TermQuerySet, name: str, key: str) -> TermQuerySet:
        return rows.filter(category="" if key == NO_CATEGORY else key)


def rows_of(project: Project) -> TermQuerySet:
    return Term.objects.filter(project=project).select_related("group__primary").listed()


def row_of(term: Term) -> dict[str, Any]:
    return dict(TermSerializer(rows_of(term.project).get(pk=term.pk)).data)


class TermView(ProjectView):
    """An endpoint for one term of a project."""

    def term(self, terms: TermQuerySet) -> Term:
        term = terms.filter(pk=self.kwargs["term_id"]).first()
        if term is None:
            raise Http404(_("This project has no such term."))
        return term


class TermList(ProjectView):
    queryset = Term.objects.all()
    filterset_class = TermFilter
    default_ordering = "-score"
    orderings = {
        "score": "score",
        "frequency": "frequency",
        "documents": "document_count",
        "text": by_index(),
        "changed": "updated_at",
    }

    @operation(
        "terms_list",
        tag=TAG,
        summary="The terms of a project, the best first",
        responses={200: TermSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(rows_of(self.project()), TermSerializer)

    @operation(
        "terms_add",
        tag=TAG,
        summary="Add a term by hand (editors)",
        request=TermChangeSerializer,
        responses={201: TermSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        term = add_term(project=project, actor=self.actor, **self.body(TermChangeSerializer))
        return Response(row_of(term), status=status.HTTP_201_CREATED)


class TermBulk(ProjectView):
    @operation(
        "terms_bulk",
        tag=TAG,
        summary="Do something with many terms at once (editors)",
        request=BulkSerializer,
        responses={200: TermsChangedSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        wish = self.body(BulkSerializer)
        action = wish["action"]
        given: dict[str, Any] = {"project": project, "ids": wish["ids"], "actor": self.actor}
        if action == "delete":
            changed = delete_terms(**given)
        elif action == "category":
            changed = set_category(category=wish.get("category", ""), **given)
        else:
            reason = wish.get("reason", "")
            changed = set_status(status=STATUS_AFTER[action], reason=reason, **given)
        return Response({"changed": changed})


class TermDetail(TermView):
    @operation(
        "terms_get",
        tag=TAG,
        summary="One term",
        responses={200: TermSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, term_id: int) -> Response:
        return Response(TermSerializer(self.term(rows_of(self.project()))).data)

    @operation(
        "terms_change",
        tag=TAG,
        summary="Change the spelling, category, notes or status of a term (editors)",
        description="What you send counts as chosen by a person: no extraction changes it.",
        request=TermEditSerializer,
        responses={200: TermSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, project_id: int, term_id: int) -> Response:
        project = self.project(Action.EDIT)
        term = self.term(rows_of(project))
        changes = self.body(TermEditSerializer)
        wanted, reason = changes.pop("status", None), changes.pop("reason", "")
        with transaction.atomic():
            update_term(term=term, actor=self.actor, **changes)
            if wanted is not None:
                set_status(
                    project=project, ids=[term.pk], status=wanted, reason=reason, actor=self.actor
                )
        return Response(row_of(term))

    @operation(
        "terms_delete",
        tag=TAG,
        summary="Delete a term (editors)",
        description="One that stands in the documents is found again; exclude it to keep it out.",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int, term_id: int) -> Response:
        project = self.project(Action.EDIT)
        if not delete_terms(project=project, ids=[term_id], actor=self.actor):
            raise Http404(_("This project has no such term."))
        return Response(status=status.HTTP_204_NO_CONTENT)


class OccurrenceList(TermView):
    # Their order is that of the documents; there is nothing to filter or to sort.
    filter_backends = []

    @operation(
        "terms_occurrences",
        tag=TAG,
        summary="Where a term stands, with the lines as they are now",
        responses={200: OccurrenceSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, term_id: int) -> Response:
        term = self.term(Term.objects.filter(project=self.project()))
        # Only the documents of this page are read.
        page = self.paginate_queryset(sorted(map(tuple, term.occurrences)))
        places = places_of(term, page or [])
        return self.get_paginated_response(OccurrenceSerializer(places, many=True).data)


class ListedTerms(ProjectView):
    """The required or the excluded terms."""

    queryset = Term.objects.all()
    orderings = TermList.orderings
    default_ordering = "-changed"
    list_status: TermStatus
    # The extraction's own exclusions are on the list as well.
    statuses: tuple[TermStatus, ...]

    def rows(self, action: Action = Action.VIEW) -> TermQuerySet:
        return rows_of(self.project(action)).filter(status__in=self.statuses)

    def added(self) -> Response:
        term, is_new = list_term(
            project=self.project(Action.EDIT),
            status=self.list_status,
            actor=self.actor,
            **self.body(ListedTermSerializer),
        )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(row_of(term), status=code)

    def removed(self, term_id: int) -> Response:
        project = self.project(Action.EDIT)
        if not self.rows().filter(pk=term_id).exists():
            raise Http404(_("This term is not on the list."))
        set_status(project=project, ids=[term_id], status=TermStatus.CANDIDATE, actor=self.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExcludedTerms(ListedTerms):
    list_status = TermStatus.EXCLUDED
    statuses = LEFT_OUT

    @operation(
        "excluded_terms_list",
        tag=TAG,
        summary="The terms that are left out, by people or by the extraction",
        responses={200: TermSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.rows(), TermSerializer)

    @operation(
        "excluded_terms_add",
        tag=TAG,
        summary="Exclude a term by its words (editors)",
        request=ListedTermSerializer,
        responses={201: TermSerializer, 200: TermSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        return self.added()


class ExcludedTerm(ExcludedTerms):
    http_method_names = ["delete"]

    @operation(
        "excluded_terms_remove",
        tag=TAG,
        summary="Take a term off the list: it is a candidate again (editors)",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int, term_id: int) -> Response:
        return self.removed(term_id)


class RequiredTerms(ListedTerms):
    list_status = TermStatus.REQUIRED
    statuses = (TermStatus.REQUIRED,)

    @operation(
        "required_terms_list",
        tag=TAG,
        summary="The terms that get an entry, whatever the extraction thinks",
        responses={200: TermSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.rows(), TermSerializer)

    @operation(
        "required_terms_add",
        tag=TAG,
        summary="Require a term by its words (editors)",
        request=ListedTermSerializer,
        responses={201: TermSerializer, 200: TermSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        return self.added()


class RequiredTerm(RequiredTerms):
    http_method_names = ["delete"]

    @operation(
        "required_terms_remove",
        tag=TAG,
        summary="Take a term off the list: it is a candidate again (editors)",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int, term_id: int) -> Response:
        return self.removed(term_id)
