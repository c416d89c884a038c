from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request


class Pages(PageNumberPagination):
    """`?page=2&page_size=50`, never more than a hundred rows at once."""

    page_size = 50
    max_page_size = 100
    page_size_query_param = "page_size"
    page_size_query_description = "Rows on a page: 50 unless told, at most 100."

    def get_page_size(self, request: Request) -> int | None:
        wanted = request.query_params.get(self.page_size_query_param, str(self.page_size))
        if not (wanted.isascii() and wanted.isdecimal() and wanted.strip("0")):
            raise ValidationError({self.page_size_query_param: [_("A whole number is required.")]})
        # A number of many digits is more than enough, and Python would refuse to read it.
        return self.max_page_size if len(wanted) > 9 else min(int(wanted), self.max_page_size)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            parameter["schema"]["minimum"] = 1
        return parameters
