"""What the pages of all apps share: a list with filter, sort and pages, and pages in two sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Expression, F, OrderBy, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

from glossary_site.nearness import nearest_first

PAGE_SIZE = 50


@dataclass(frozen=True)
class Column:
    """A column of a list: `key` names it in the address, `order_by` is what the database sorts."""

    key: str
    label: Any
    order_by: str | Expression = ""
    kind: str = "text"  # or "number", "time"

    @property
    def newest_first(self) -> bool:
        """People who sort by a figure or a time want the largest first."""
        return self.kind != "text"


@dataclass(frozen=True)
class Header:
    """A column as this request shows it."""

    key: str
    label: Any
    kind: str
    sortable: bool
    direction: str
    url: str


@dataclass(frozen=True)
class PageLink:
    number: int
    url: str
    is_current: bool = False
    is_gap: bool = False


class Listing:
    """The rows of one page of a list, and the addresses of its other pages and orders.

    It reads `?q=`, `?sort=` (`-` in front for descending) and `?page=`. A page that does not exist
    shows the nearest one, and an unknown order the usual one: an address kept from yesterday works.
    """

    def __init__(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        columns: Sequence[Column],
        *,
        default: str,
        page_size: int = PAGE_SIZE,
    ) -> None:
        self._request = request
        self._columns = columns
        orders = {column.key: column.order_by for column in columns if column.order_by != ""}
        wanted = request.GET.get("sort", "")
        self.sort = wanted if wanted.removeprefix("-") in orders else ""
        self._effective = self.sort or default
        usual = self._effective.removeprefix("-")
        # What has an order of its own, by no column, names its field: no header claims it.
        order = orders.get(usual, usual)
        expression = F(order) if isinstance(order, str) else order
        # The key is always the last word, so that pages never repeat or skip a row.
        self._nearest = [] if self.sort else nearest_first(rows)
        ordered = rows.order_by(
            *self._nearest,
            OrderBy(expression, descending=self._effective.startswith("-"), nulls_last=True),
            "pk",
        )
        self.page: Page[Any] = Paginator(ordered, page_size).get_page(request.GET.get("page"))

    @property
    def query(self) -> str:
        return query_of(self._request)

    @cached_property
    def columns(self) -> list[Header]:
        return [self._header(column) for column in self._columns]

    def _header(self, column: Column) -> Header:
        descending = f"-{column.key}"
        effective = "" if self._nearest else self._effective
        direction = {column.key: "ascending", descending: "descending"}.get(effective, "")
        first = descending if column.newest_first else column.key
        other = column.key if column.newest_first else descending
        sort = other if effective == first else first
        return Header(
            key=column.key,
            label=column.label,
            kind=column.kind,
            sortable=column.order_by != "",
            direction=direction,
            url=self._url(sort=sort, page=""),
        )

    @property
    def previous_url(self) -> str:
        return self._page_url(self.page.previous_page_number()) if self.page.has_previous() else ""

    @property
    def next_url(self) -> str:
        return self._page_url(self.page.next_page_number()) if self.page.has_next() else ""

    @cached_property
    def page_links(self) -> list[PageLink]:
        pages = self.page.paginator.get_elided_page_range(
            self.page.number, on_each_side=2, on_ends=1
        )
        return [
            PageLink(page, self._page_url(page), is_current=page == self.page.number)
            if isinstance(page, int)
            else PageLink(0, "", is_gap=True)
            for page in pages
        ]

    def _page_url(self, number: int) -> str:
        return self._url(page=str(number) if number > 1 else "")

    def _url(self, **changes: str) -> str:
        query = self._request.GET.copy()
        for key, value in changes.items():
            query[key] = value
        for key in [key for key in query if not query[key]]:
            del query[key]
        return f"{self._request.path}?{query.urlencode()}" if query else self._request.path


def query_of(request: HttpRequest) -> str:
    """What was typed into the filter box. PostgreSQL cannot hold NUL, so no row contains it."""
    return request.GET.get("q", "").replace("\0", "").strip()


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx asked for a piece of the page; a restored history entry is a whole page."""
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def render_page(
    request: HttpRequest, template: str, part: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """The whole page, or only its changing part when htmx asks: the same partial in both."""
    name = part if wants_part(request) else template
    response = render(request, name, context, status=status)
    # Two bodies at one address: a browser must not show one from its cache for the other.
    patch_vary_headers(response, ["HX-Request"])
    return response
