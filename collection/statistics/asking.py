"""What somebody wants counted: read from an address or from JSON, and written back."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, Protocol, Self

from django.db.models import TextChoices
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from glossary_site.errors import Refusal
from glossary_site.numbers import number_in

# What the address calls them: one by one, as boxes and lists of a form are sent.
KEYS = {
    "repositories": "repository",
    "branches": "branch",
    "authors": "author",
    "since": "since",
    "until": "until",
    "per": "per",
    "by": "by",
    "include_unreachable": "unreachable",
}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# Beyond them, reckoning with time zones runs off the end of the calendar.
YEARS = range(1900, 3000)
YES = ("1", "true", "on", "yes")
NO = ("", "0", "false", "off", "no")


class Per(TextChoices):
    WEEK = "week", gettext_lazy("Week")
    MONTH = "month", gettext_lazy("Month")


class By(TextChoices):
    NONE = "none", gettext_lazy("None")
    AUTHOR = "author", gettext_lazy("Author")
    REPOSITORY = "repository", gettext_lazy("Repository")
    BRANCH = "branch", gettext_lazy("Branch")


class Lists(Protocol):
    """A `QueryDict`, or anything that has several values for a key."""

    def getlist(self, key: str) -> list[Any]: ...


class BadFilter(Refusal):
    """What of a filter cannot be understood: a sentence for each field of it, by the name that the
    asker used."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__("bad_filter", " ".join(errors.values()), status=400, errors=errors)
        self.errors = errors


@dataclass(frozen=True)
class Filter:
    """Nothing said means everything. Dates are days of the site's time zone, both included."""

    repositories: tuple[int, ...] = ()
    # Names; a branch of that name in each repository.
    branches: tuple[str, ...] = ()
    # “Name <address>” of persons, by any of their names.
    authors: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    per: Per = Per.WEEK
    by: By = By.NONE
    # Commits that a rewritten history has left behind.
    include_unreachable: bool = False

    @classmethod
    def from_query(cls, query: Lists | str) -> Self:
        """From an address: `?repository=3&repository=4&since=2026-01-01&by=author`. What else an
        address has is not ours."""
        lists = QueryDict(query) if isinstance(query, str) else query
        given = {name: lists.getlist(key) for name, key in KEYS.items()}
        return cls(**_Reader(given, KEYS).fields())

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """From the fields by their names. One that is not known is a mistake, and not passed over:
        who misspells “branches” would be shown all of them."""
        if not isinstance(data, Mapping):
            raise BadFilter({"filter": _("A filter is an object of fields and values.")})
        if unknown := sorted(str(name) for name in data if name not in KEYS):
            raise BadFilter(
                {name: _("“%(name)s” is no part of a filter.") % {"name": name} for name in unknown}
            )
        given = {name: _as_list(data.get(name)) for name in KEYS}
        return cls(**_Reader(given, {name: name for name in KEYS}).fields())

    def as_query(self) -> dict[str, list[str]]:
        """As it stands in an address, without what is said by saying nothing."""
        return {KEYS[name]: values for name, values in self._said()}

    def as_json(self) -> dict[str, Any]:
        several = ("repositories", "branches", "authors")
        found: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in several:
                found[each.name] = list(value)
            else:
                found[each.name] = value.isoformat() if isinstance(value, date) else value
        return found

    def urlencode(self) -> str:
        query = QueryDict(mutable=True)
        for key, values in self.as_query().items():
            query.setlist(key, values)
        return query.urlencode()

    @property
    def is_narrowed(self) -> bool:
        """Whether it leaves anything out; how it is counted does not matter here."""
        return any(name not in ("per", "by") for name, _values in self._said())

    def _said(self) -> Iterable[tuple[str, list[str]]]:
        for each in fields(self):
            value = getattr(self, each.name)
            if value == each.default:
                continue
            if isinstance(value, tuple):
                yield each.name, [str(one) for one in value]
            elif isinstance(value, bool):
                yield each.name, ["1"]
            else:
                yield each.name, [value.isoformat() if isinstance(value, date) else str(value)]


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


class _Reader:
    """Reads every field, and says of all of them what is wrong with it."""

    def __init__(self, given: dict[str, list[Any]], names: dict[str, str]) -> None:
        self._given = given
        self._names = names
        self._errors: dict[str, str] = {}

    def fields(self) -> dict[str, Any]:
        found = {
            "repositories": self._several("repositories", self._number),
            "branches": self._several("branches", self._text),
            "authors": self._several("authors", self._text),
            "since": self._one("since", self._day),
            "until": self._one("until", self._day),
            "per": self._one("per", lambda field, value: self._choice(field, value, Per)),
            "by": self._one("by", lambda field, value: self._choice(field, value, By)),
            "include_unreachable": self._one("include_unreachable", self._yes_or_no),
        }
        since, until = found["since"], found["until"]
        if since and until and since > until:
            self._wrong("until", _("The last day is before the first."))
        if self._errors:
            raise BadFilter(self._errors)
        # A field without a word has its usual value.
        return {name: value for name, value in found.items() if value is not None}

    def _wrong(self, field: str, sentence: str) -> None:
        self._errors.setdefault(self._names[field], sentence)

    def _several(self, field: str, read: Callable[[str, Any], Any]) -> tuple[Any, ...]:
        """Each once, in the order given."""
        values = [read(field, value) for value in self._given[field] if value != ""]
        return tuple(dict.fromkeys(value for value in values if value is not None))

    def _one(self, field: str, read: Callable[[str, Any], Any]) -> Any:
        values = [value for value in self._given[field] if value not in ("", None)]
        if len(values) > 1:
            self._wrong(field, _("This can be said once only."))
        return read(field, values[-1]) if values else None

    def _number(self, field: str, value: Any) -> int | None:
        number = None if isinstance(value, bool) else number_in(str(value))
        if number is None:
            self._wrong(field, _("“%(value)s” is no number.") % {"value": _shown(value)})
        return number

    def _text(self, field: str, value: Any) -> str | None:
        if isinstance(value, str) and "\0" not in value and _is_unicode(value):
            return value
        self._wrong(field, _("“%(value)s” is no name.") % {"value": _shown(value)})
        return None

    def _day(self, field: str, value: Any) -> date | None:
        # The other spellings of ISO (20260105, 2026-W02-1) are not what people mean.
        if isinstance(value, str) and DAY.fullmatch(value):
            with suppress(ValueError):
                day = date.fromisoformat(value)
                if day.year in YEARS:
                    return day
        words = _("“%(value)s” is no day such as 2026-01-31.")
        self._wrong(field, words % {"value": _shown(value)})
        return None

    def _choice(self, field: str, value: Any, choices: type[TextChoices]) -> TextChoices | None:
        if isinstance(value, str) and value in choices.values:
            return choices(value)
        words = _("“%(value)s” is none of: %(known)s.")
        known = ", ".join(choices.values)
        self._wrong(field, words % {"value": _shown(value), "known": known})
        return None

    def _yes_or_no(self, field: str, value: Any) -> bool | None:
        word = str(value).lower()
        if word in YES or word in NO:
            return word in YES
        self._wrong(field, _("“%(value)s” is neither yes nor no.") % {"value": _shown(value)})
        return None


def _shown(value: Any) -> str:
    """Enough of it to be recognised."""
    return str(value).replace("\0", "�").encode(errors="replace").decode()[:80]


def _is_unicode(text: str) -> bool:
    """JSON can spell half a character, which no database holds."""
    return text.isascii() or text.encode(errors="replace").decode() == text
