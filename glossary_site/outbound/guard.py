"""May this address be opened? Asked when somebody saves it, and again before every connection."""

import socket
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from glossary_site.outbound.addresses import Reach, plain, reach_of
from glossary_site.outbound.errors import UrlRefused
from glossary_site.outbound.urls import Url, parse_url

WEB = ("https", "http")

# From a host and a port to its addresses; raises OSError where there is none.
Resolver = Callable[[str, int], Sequence[str]]


def system_resolver(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


@dataclass(frozen=True)
class Target:
    """An address that may be opened, and where it led when it was asked."""

    url: Url
    addresses: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.url)


def check_url(
    text: str,
    *,
    schemes: Collection[str] = WEB,
    allow_private: bool = False,
    resolver: Resolver = system_resolver,
) -> Target:
    """The address in its one spelling, or a `UrlRefused` that says what is wrong with it.

    `allow_private` is for addresses that the operator wrote (the environment). Everybody else
    reaches a private network only where `GLOSSARY_PRIVATE_URLS_ALLOWED` opens it.
    """
    url = parse_url(text, schemes=schemes)
    addresses = addresses_of(url, allow_private=allow_private, resolver=resolver)
    return Target(url, addresses)


def addresses_of(url: Url, *, allow_private: bool, resolver: Resolver) -> tuple[str, ...]:
    """Where the host leads now, and may lead. Connect to these and to nothing else: the next
    answer to the same question can be another one."""
    try:
        found = resolver(url.host, url.port)
    except (OSError, UnicodeError) as error:
        raise _unknown(url) from error
    if not found:
        raise _unknown(url)
    reaches = {text: _reach(url, text, allow_private=allow_private) for text in found}
    permitted = tuple(text for text, reach in reaches.items() if reach is Reach.PUBLIC)
    if permitted:
        return permitted
    if Reach.PRIVATE in reaches.values():
        raise UrlRefused(
            "address_private",
            _(
                "“%(host)s” leads into a private network, which this site does not open. "
                "An operator can allow it with GLOSSARY_PRIVATE_URLS_ALLOWED."
            )
            % {"host": url.host},
        )
    raise UrlRefused(
        "address_forbidden",
        _("“%(host)s” leads to an address that this site never opens.") % {"host": url.host},
    )


def _reach(url: Url, text: str, *, allow_private: bool) -> Reach:
    """What the operator has opened counts as public."""
    address = plain(text)
    reach = reach_of(address)
    opened = reach is Reach.PRIVATE and (
        allow_private
        or any(entry.covers(url.host, url.port, address) for entry in settings.PRIVATE_URLS_ALLOWED)
    )
    return Reach.PUBLIC if opened else reach


def _unknown(url: Url) -> UrlRefused:
    return UrlRefused(
        "host_unknown",
        _("No address was found for “%(host)s”. Check the spelling.") % {"host": url.host},
    )
