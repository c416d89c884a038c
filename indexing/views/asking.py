"""What somebody asks for, as it stands in the address of a search page.

An address may come from anywhere: what cannot be read in it is left out, and never an error.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, Self
from urllib.parse import urlencode

from django.db.models import TextChoices
from django.http import HttpRequest

from glossary_site.numbers import number_in
from glossary_site.pages import query_of
from indexing.choices import Freshness, Mode
from indexing.paths import MOST_PATTERNS
from indexing.search.options import (
    DEFAULT_LIMIT,
    FURTHEST_OFFSET,
    QUERY_CHARACTERS,
    SearchOptions,
)

DEEPEST = 6
PATTERNS_LENGTH = 1000
SEPARATORS = re.compile(r"[,、，\n]")


# A Japanese character takes nine bytes of an address, and web servers take 16 KB of one.
LONGEST_TYPED = 1500


@dataclass(frozen=True)
class Asked:
    query: str
    mode: Mode
    freshness: Freshness
    # None: sections as they are found.
    depth: int | None
    # As typed, several with commas between them.
    include: str
    exclude: str
    page: int
    typing: bool
    longest: ClassVar[int] = LONGEST_TYPED

    @classmethod
    def by(cls, request: HttpRequest) -> Self:
        return cls(
            query=query_of(request)[:QUERY_CHARACTERS],
            mode=Mode(_one_of(Mode, request, "mode", Mode.HYBRID)),
            freshness=Freshness(_one_of(Freshness, request, "index_status", Freshness.ALL)),
            depth=_number(request, "depth", most=DEEPEST),
            include=_patterns(request, "path"),
            exclude=_patterns(request, "exclude_path"),
            page=_number(request, "page", most=FURTHEST_OFFSET // DEFAULT_LIMIT + 1) or 1,
            typing=request.GET.get("typing") == "1",
        )

    def options(self, project_ids: tuple[int, ...]) -> SearchOptions:
        return SearchOptions(
            query=self.query,
            project_ids=project_ids,
            mode=self.mode,
            limit=DEFAULT_LIMIT,
            offset=self.offset,
            depths=() if self.depth is None else (self.depth,),
            include=_split(self.include),
            exclude=_split(self.exclude),
            freshness=self.freshness,
            typing=self.typing,
        )

    @property
    def offset(self) -> int:
        return (self.page - 1) * DEFAULT_LIMIT

    @property
    def has_patterns(self) -> bool:
        return bool(self.include or self.exclude)

    @property
    def is_narrowed(self) -> bool:
        """By more than its words: there may be more to find without."""
        return self.has_patterns or self.freshness != Freshness.ALL or self.mode != Mode.HYBRID

    def address(self, path: str, *, page: int = 1) -> str:
        """The shortest address that asks the same, without what only matters as somebody types."""
        parts = {
            "q": self.query,
            "mode": self.mode.value if self.mode != Mode.HYBRID else "",
            "index_status": self.freshness.value if self.freshness != Freshness.ALL else "",
            "depth": "" if self.depth is None else str(self.depth),
            "path": self.include,
            "exclude_path": self.exclude,
            "page": str(page) if page > 1 else "",
        }
        query = urlencode({key: value for key, value in parts.items() if value})
        return f"{path}?{query}" if query else path


def _one_of(
    choices: type[TextChoices], request: HttpRequest, name: str, usual: TextChoices
) -> TextChoices:
    value = request.GET.get(name, "")
    return choices(value) if value in choices.values else usual


def _number(request: HttpRequest, name: str, *, most: int) -> int | None:
    number = number_in(request.GET.get(name, ""))
    return None if number is None else min(number, most)


def _patterns(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\0", "").strip()[:PATTERNS_LENGTH]


def _split(patterns: str) -> tuple[str, ...]:
    parts = [part.strip() for part in SEPARATORS.split(patterns)]
    return tuple(part for part in parts if part)[:MOST_PATTERNS]
