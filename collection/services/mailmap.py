"""Git's mail map: which names and addresses in commits stand for which person.

Four forms of a line, the last of which is the most exact:

    Proper Name <commit@example.com>
    <proper@example.com> <commit@example.com>
    Proper Name <proper@example.com> <commit@example.com>
    Proper Name <proper@example.com> Commit Name <commit@example.com>

Read as git reads it, oddities included: who runs `git log` beside this site sees the same people.
"""

from dataclasses import dataclass, field

from collection.identities import Identity

# What git takes for space; others are part of a name.
SPACE = " \t\n\r"


@dataclass
class _Proper:
    """What is put in the place; None: as in the commit."""

    name: str | None = None
    email: str | None = None


@dataclass
class _Address:
    """What is known of an address: in general, and of some names that go with it."""

    general: _Proper = field(default_factory=_Proper)
    by_name: dict[str, _Proper] = field(default_factory=dict)


class MailMap:
    def __init__(self, text: str) -> None:
        self._addresses: dict[str, _Address] = {}
        for line in text.split("\n"):
            if not line.startswith("#"):
                self._read(line)

    def _read(self, line: str) -> None:
        first = _name_and_email(line, may_be_empty=False)
        if first is None:
            return
        name, email, rest = first
        second = _name_and_email(rest, may_be_empty=True)
        if second is None:
            # The only address is the one that commits have, and stays.
            self._add(_Proper(name=name), None, email)
        else:
            self._add(_Proper(name=name, email=email), second[0], second[1])

    def _add(self, proper: _Proper, name: str | None, email: str) -> None:
        known = self._addresses.setdefault(_folded(email), _Address())
        if name is not None:
            known.by_name[_folded(name)] = proper
            return
        # Two lines about one address add up: the name from one, the new address from the other.
        if proper.name is not None:
            known.general.name = proper.name
        if proper.email is not None:
            known.general.email = proper.email

    def proper(self, identity: Identity) -> Identity:
        """Who that is; itself where the map says nothing."""
        known = self._addresses.get(_folded(identity.email))
        if known is None:
            return identity
        found = known.by_name.get(_folded(identity.name), known.general)
        return Identity(
            identity.name if found.name is None else found.name,
            identity.email if found.email is None else found.email,
        )


def _name_and_email(text: str, *, may_be_empty: bool) -> tuple[str | None, str, str] | None:
    """`Name <address>` at the beginning of a text, and what comes after it."""
    before, opening, after = text.partition("<")
    email, closing, rest = after.partition(">")
    if not opening or not closing or not (email or may_be_empty):
        return None
    return before.strip(SPACE) or None, email, rest


def _folded(text: str) -> str:
    """Git knows upper and lower case of ASCII letters only."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)
