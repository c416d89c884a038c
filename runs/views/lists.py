"""Lists that are made in memory, in pages like those of the database."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from glossary_site.pages import PAGE_SIZE, Listing


class ListInMemory(Listing):
    """Rows in the order they come in: there is nothing to sort by."""

    def __init__(
        self, request: HttpRequest, rows: Sequence[Any], *, page_size: int = PAGE_SIZE
    ) -> None:
        self._request = request
        self._columns = ()
        self.sort = self._effective = ""
        self.page = Paginator(rows, page_size).get_page(request.GET.get("page"))
