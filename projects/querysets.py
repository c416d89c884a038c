"""The vocabulary for reading projects, documents, terms and the glossary."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from django.db.models import Case, Model, Q, QuerySet, When

from glossary_site.nearness import NEARNESS
from projects.choices import IN_GLOSSARY, LEFT_OUT, TermStatus
from projects.order import by_index
from projects.terms.wanted import Wanted

if TYPE_CHECKING:
    from projects.models import (  # noqa: F401 (named in the annotations)
        Document,
        GlossaryEntry,
        Project,
        Term,
    )


class ProjectQuerySet(QuerySet["Project"]):
    def matching(self, text: str) -> "ProjectQuerySet":
        return self.filter(Q(name__icontains=text) | Q(description__icontains=text))


class DocumentQuerySet(QuerySet["Document"]):
    def listed(self) -> "DocumentQuerySet":
        """For lists: everything but the text."""
        return self.defer("content")

    def matching(self, text: str) -> "DocumentQuerySet":
        return self.filter(Q(path__icontains=text) | Q(title__icontains=text))


_Row = TypeVar("_Row", bound=Model, covariant=True)


class NamedQuerySet(QuerySet[_Row]):
    """Rows with a name, its key and its reading, and with other names."""

    # Columns: the name, the list of the others, and the words about it.
    name: ClassVar[str]
    others: ClassVar[str]
    about: ClassVar[str]

    def matching(self, text: str) -> Self:
        """What is called so, in whatever spelling and by whichever of its names, and what is said
        to have to do with it. Each row has its nearness."""
        wanted = Wanted(text)
        within = self._written(wanted, "contains")
        called, partly = self._by_other_names(wanted)
        found = within | Q(**{f"{self.about}__icontains": text}) | Q(pk__in=called | partly)
        return self.filter(found).annotate(
            **{
                NEARNESS: Case(
                    When(Q(key__in=wanted.keys) | Q(reading=wanted.reading), then=0),
                    When(pk__in=called, then=1),
                    When(self._written(wanted, "startswith"), then=2),
                    When(within | Q(pk__in=partly), then=3),
                    default=4,
                )
            }
        )

    def _written(self, wanted: Wanted, how: str) -> Q:
        places = Q(**{f"{self.name}__i{how}": wanted.text})
        for key in wanted.keys:
            places |= Q(**{f"key__{how}": key})
        if wanted.reading:
            places |= Q(**{f"reading__{how}": wanted.reading})
        return places

    def _by_other_names(self, wanted: Wanted) -> tuple[set[int], set[int]]:
        """The rows that have it as another name, and those that have it in one. No database can
        compare spellings; but most rows have no other name."""
        called, partly = set(), set()
        for pk, names in self.other_names():
            if wanted.is_one_of(names):
                called.add(pk)
            elif wanted.is_part_of(names):
                partly.add(pk)
        return called, partly - called

    def other_names(self) -> Iterator[tuple[int, list[str]]]:
        """Of those that have any; a row may come more than once."""
        rows = self.order_by().exclude(**{self.others: []})
        yield from rows.values_list("pk", self.others)


class TermQuerySet(NamedQuerySet["Term"]):
    name, others, about = "text", "variants", "notes"

    def other_names(self) -> Iterator[tuple[int, list[str]]]:
        """Spellings, and the whole of its synonym group."""
        yield from super().other_names()
        grouped = self.order_by().filter(group__isnull=False)
        for pk, name in grouped.values_list("pk", "group__terms__text"):
            yield pk, [name]

    def in_glossary(self) -> "TermQuerySet":
        """Those that get an entry, synonyms that are not the primary of their group included."""
        return self.filter(status__in=IN_GLOSSARY)

    def left_out(self) -> "TermQuerySet":
        return self.filter(status__in=LEFT_OUT)

    def required(self) -> "TermQuerySet":
        return self.filter(status=TermStatus.REQUIRED)

    def listed(self) -> "TermQuerySet":
        """For lists: everything but the places."""
        return self.defer("occurrences")


class EntryQuerySet(NamedQuerySet["GlossaryEntry"]):
    name, others, about = "term", "aliases", "definition"

    def narrowed(self, *, query: str = "", letter: str = "", category: str = "") -> "EntryQuerySet":
        """To what is searched for, stands under a letter and is of a kind; each only if named."""
        rows = self.matching(query) if query else self
        if letter:
            rows = rows.filter(letter=letter)
        return rows.filter(category=category) if category else rows

    def in_order(self) -> "EntryQuerySet":
        return self.order_by(by_index(), "pk")

    def listed(self) -> "EntryQuerySet":
        """For lists: everything but the evidence."""
        return self.defer("evidence")
