"""Who the people behind the names and addresses of commits are."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple, Self

from collection.models import AuthorAlias
from projects.models import Project


class Identity(NamedTuple):
    """A name and an address as commits have them, or as a person is to be called."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"

    @classmethod
    def read(cls, text: str) -> Self:
        """What `str()` wrote; a text of another form is a name."""
        name, opening, email = text.rpartition(" <")
        if opening and email.endswith(">"):
            return cls(name, email[:-1])
        return cls(text, "")


class People:
    """The persons of a project: who stands for whom. An identity that nobody has said anything
    about is a person of its own."""

    def __init__(self, stands_for: dict[Identity, Identity]) -> None:
        self._stands_for = stands_for
        self._others: dict[Identity, set[Identity]] = defaultdict(set)
        for identity, person in stands_for.items():
            self._others[person].add(identity)

    @classmethod
    def of(cls, project: Project) -> Self:
        rows = AuthorAlias.objects.filter(project=project).order_by()
        found = rows.values_list("name", "email", "author__name", "author__email")
        return cls({Identity(*row[:2]): Identity(*row[2:]) for row in found})

    def person(self, identity: Identity) -> Identity:
        return self._stands_for.get(identity, identity)

    def identities(self, person: Identity) -> set[Identity]:
        """Everything that commits may call a person; also asked for one of the other names, so
        that a filter kept from before a merge finds the person."""
        person = self.person(person)
        known = set(self._others.get(person, ()))
        if self.person(person) == person:
            known.add(person)
        return known

    def all_identities(self, persons: Iterable[Identity]) -> set[Identity]:
        return {identity for person in persons for identity in self.identities(person)}
