from collections.abc import Mapping
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.expressions import Expression, OrderBy
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request
from rest_framework.views import APIView

from glossary_site.nearness import nearest_first

PARAMETER = "ordering"


class StableOrdering(BaseFilterBackend):
    """`?ordering=-changed`, always with the key as the last word: pages never repeat a row.

    A view names what it can be sorted by in `orderings`, and how it is sorted when nobody asks in
    `default_ordering`: after a search, that decides between rows that are equally near.
    """

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> Any:
        orderings, default = orderings_of(view)
        asked = request.query_params.get(PARAMETER)
        wanted = asked or default
        name = wanted.removeprefix("-")
        if name not in orderings:
            known = ", ".join(orderings)
            sentence = _("Cannot be sorted by “%(name)s”, only by: %(known)s.")
            raise ValidationError({PARAMETER: [sentence % {"name": name, "known": known}]})
        column = orderings[name]
        expression = F(column) if isinstance(column, str) else column
        first = [] if asked else nearest_first(queryset)
        return queryset.order_by(*first, OrderBy(expression, descending=wanted != name), "pk")

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        orderings, default = orderings_of(view)
        names = [word for name in orderings for word in (name, f"-{name}")]
        return [
            {
                "name": PARAMETER,
                "in": "query",
                "required": False,
                "description": "What to sort by; a minus turns it round.",
                "schema": {"type": "string", "enum": names, "default": default},
            }
        ]


def orderings_of(view: Any) -> tuple[Mapping[str, str | Expression], str]:
    return view.orderings, view.default_ordering
