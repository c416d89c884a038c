"""Lists that are not a query in the order of a column: made in memory, or counted up to a limit."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from glossary_site.pages import PAGE_SIZE, Listing

# Whoever looks for more asks more exactly; counting on would take longer than the page.
MOST_ROWS = 5000


class InOrder(Listing):
    """Rows in the order they come in: there is nothing to sort by."""

    def __init__(
        self, request: HttpRequest, rows: Sequence[Any], *, page_size: int = PAGE_SIZE
    ) -> None:
        self._request = request
        self._columns = ()
        self.sort = self._effective = ""
        self.page = Paginator(rows, page_size).get_page(request.GET.get("page"))


class _Capped(Paginator):
    @cached_property
    def count(self) -> int:
        # In no order: the first few thousand rows that are found will do for counting.
        return self.object_list.order_by()[: MOST_ROWS + 1].count()  # type: ignore[attr-defined]


class FirstOfMany(InOrder):
    """The first few thousand rows of a query that has its order."""

    def __init__(
        self, request: HttpRequest, rows: QuerySet[Any], *, page_size: int = PAGE_SIZE
    ) -> None:
        super().__init__(request, ())
        pages = _Capped(rows, page_size)
        # One more than are shown tells that there are more.
        self.has_more = pages.count > MOST_ROWS
        pages.count = min(pages.count, MOST_ROWS)
        self.page = pages.get_page(request.GET.get("page"))
