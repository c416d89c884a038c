from django_filters import rest_framework as filters

from glossary_site.api.filters import Flag
from glossary_site.llm.choices import ACTIVE, ProcessStatus, Strategy
from glossary_site.llm.lists import matching
from glossary_site.llm.models import LLMProcess
from glossary_site.llm.querysets import LLMProcessQuerySet


class ProcessFilter(filters.FilterSet):
    q = filters.CharFilter(
        method="search", label="A whole number, or words of the model or the error."
    )
    status = filters.MultipleChoiceFilter(
        choices=ProcessStatus.choices, label="One or more statuses."
    )
    active = Flag(method="only_active", label="Whether it has not ended yet.")
    strategy = filters.ChoiceFilter(choices=Strategy.choices)
    scope = filters.CharFilter(label="`site`, or one project such as `project:7`.")

    class Meta:
        model = LLMProcess
        fields = ("q", "status", "active", "strategy", "scope")

    def search(self, rows: LLMProcessQuerySet, name: str, text: str) -> LLMProcessQuerySet:
        return matching(rows, text)

    def only_active(self, rows: LLMProcessQuerySet, name: str, wanted: bool) -> LLMProcessQuerySet:
        return rows.filter(status__in=ACTIVE) if wanted else rows.exclude(status__in=ACTIVE)
