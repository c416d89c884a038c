"""Persons that may well be one: a hint for people, who decide."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from collection.statistics.counting import PersonTotal

# What many persons have in common says nothing.
SHARED = frozenset(
    [
        "admin",
        "administrator",
        "bot",
        "build",
        "ci",
        "contact",
        "dev",
        "developer",
        "git",
        "github",
        "gitlab",
        "hello",
        "info",
        "mail",
        "me",
        "noreply",
        "no-reply",
        "none",
        "nobody",
        "office",
        "root",
        "support",
        "test",
        "unknown",
        "user",
    ]
)
# The addresses that hosts give: 1234567+name@users.noreply.github.com
HIDDEN = ("noreply",)
LEAST_LETTERS = 3
MOST = 12


@dataclass(frozen=True)
class Double:
    """The busiest first: the name that is proposed."""

    persons: tuple[PersonTotal, ...]


def likely_doubles(persons: Iterable[PersonTotal]) -> list[Double]:
    """Persons that share a name, or what stands before the @ of an address."""
    people = list(persons)
    found: list[Double] = []
    taken: set[int] = set()
    for places in _sharing(people):
        new = tuple(place for place in sorted(places) if place not in taken)
        if len(new) > 1:
            taken.update(new)
            found.append(Double(tuple(people[place] for place in new)))
    return found[:MOST]


def _sharing(people: list[PersonTotal]) -> Iterable[set[int]]:
    by_sign: dict[tuple[str, str], set[int]] = defaultdict(set)
    for place, each in enumerate(people):
        for identity, _figures in each.identities:
            if name := _name_sign(identity.name):
                by_sign["name", name].add(place)
            if local := _local_part(identity.email):
                by_sign["email", local].add(place)
    # A name says more than half an address.
    signs = sorted(by_sign, key=lambda sign: (sign[0] != "name", sign[1]))
    return [by_sign[sign] for sign in signs if len(by_sign[sign]) > 1]


def _name_sign(name: str) -> str:
    sign = "".join(name.casefold().replace(".", " ").split())
    return "" if sign in SHARED or len(sign) < LEAST_LETTERS else sign


def _local_part(email: str) -> str:
    local, _at, host = email.casefold().partition("@")
    if any(word in host for word in HIDDEN):
        local = local.partition("+")[2] or local
    local = local.partition("+")[0]
    return "" if local in SHARED or len(local) < LEAST_LETTERS or local.isdigit() else local
