"""How lists are narrowed by the query string."""

from django_filters import rest_framework as filters

from glossary_site.api.filters import Flag
from glossary_site.jobs.choices import ACTIVE, Lane, State, WorkerRole
from glossary_site.jobs.lists import matching
from glossary_site.jobs.models import JobDefinition, JobRun, Worker
from glossary_site.jobs.querysets import JobRunQuerySet


class JobFilter(filters.FilterSet):
    q = filters.CharFilter(
        method="search", label="A number, or words of the kind, the key, the error or the worker."
    )
    state = filters.MultipleChoiceFilter(choices=State.choices, label="One or more states.")
    active = Flag(method="only_active", label="Whether it has not ended yet.")
    kind = filters.CharFilter()
    lane = filters.ChoiceFilter(choices=Lane.choices)
    scope = filters.CharFilter(label="Whose work it is, such as `project:7`.")

    class Meta:
        model = JobRun
        fields = ("q", "state", "active", "kind", "lane", "scope")

    def search(self, rows: JobRunQuerySet, name: str, text: str) -> JobRunQuerySet:
        return matching(rows, text)

    def only_active(self, rows: JobRunQuerySet, name: str, wanted: bool) -> JobRunQuerySet:
        return rows.filter(state__in=ACTIVE) if wanted else rows.exclude(state__in=ACTIVE)


class WorkerFilter(filters.FilterSet):
    node = filters.CharFilter()
    role = filters.ChoiceFilter(choices=WorkerRole.choices)

    class Meta:
        model = Worker
        fields = ("node", "role")


class DefinitionFilter(filters.FilterSet):
    enabled = Flag()
    kind = filters.CharFilter()

    class Meta:
        model = JobDefinition
        fields = ("enabled", "kind")
