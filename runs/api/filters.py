"""How lists of runs, and of what they made, are narrowed by the query string."""

from typing import Any

from django.db.models import Q, QuerySet
from django_filters import rest_framework as filters

from glossary_site.api.filters import Flag
from runs.choices import IssueKind, Scope, Status, Step
from runs.models import ProvisionalEntry, RefinedEntry, Run, RunFailure, RunIssue, RunTerm


class RunFilter(filters.FilterSet):
    status = filters.ChoiceFilter(choices=Status.choices)
    scope = filters.ChoiceFilter(choices=Scope.choices)

    class Meta:
        model = Run
        fields = ("status", "scope")


class TermFilter(filters.FilterSet):
    q = filters.CharFilter(method="search", label="Letters in the term.")
    category = filters.CharFilter()
    excluded = Flag(method="left_out", label="Only what was left out, or only what was not.")

    class Meta:
        model = RunTerm
        fields = ("q", "category", "excluded")

    def search(self, rows: QuerySet[Any], name: str, text: str) -> QuerySet[Any]:
        return rows.filter(text__icontains=text)

    def left_out(self, rows: QuerySet[Any], name: str, wanted: bool) -> QuerySet[Any]:
        inside = Q(excluded_because="")
        return rows.filter(~inside if wanted else inside)


class EntryFilter(filters.FilterSet):
    q = filters.CharFilter(method="search", label="Letters in the term or its definition.")
    category = filters.CharFilter()
    needs_review = Flag()
    supported = Flag()

    def search(self, rows: QuerySet[Any], name: str, text: str) -> QuerySet[Any]:
        return rows.filter(Q(term__icontains=text) | Q(definition__icontains=text))


class ProvisionalFilter(EntryFilter):
    class Meta:
        model = ProvisionalEntry
        fields = ("q", "category", "needs_review", "supported")


class RefinedFilter(EntryFilter):
    class Meta:
        model = RefinedEntry
        fields = ("q", "category", "needs_review", "supported", "copied")


class IssueFilter(filters.FilterSet):
    issue_type = filters.ChoiceFilter(field_name="kind", choices=IssueKind.choices)

    class Meta:
        model = RunIssue
        fields = ("issue_type",)


class FailureFilter(filters.FilterSet):
    step = filters.ChoiceFilter(choices=Step.choices)

    class Meta:
        model = RunFailure
        fields = ("step",)
