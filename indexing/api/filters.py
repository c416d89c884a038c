"""How lists are narrowed by the query string."""

from django import forms
from django_filters import rest_framework as filters

from glossary_site.api.views import BIGGEST_ID
from indexing.choices import RequestStatus
from indexing.models import IndexRequest


class IdFilter(filters.Filter):
    """The key of a row: a whole number, and none that a database would choke on."""

    field_class = forms.IntegerField

    def __init__(self, **options: object) -> None:
        super().__init__(min_value=0, max_value=BIGGEST_ID, **options)


class IndexRequestFilter(filters.FilterSet):
    status = filters.MultipleChoiceFilter(
        choices=RequestStatus.choices, label="One or more statuses."
    )
    document = IdFilter(field_name="document_id", label="The id of a document.")

    class Meta:
        model = IndexRequest
        fields = ("status", "document")
