"""Reading an address that a person typed, so that everything after it reads the same one.

Programs disagree about odd spellings, and each disagreement is a way round a check. So what is odd
is refused, and what is left is written in one way.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import SplitResult, quote, urlsplit

import idna
from django.utils.translation import gettext as _

from glossary_site.outbound.errors import UrlRefused

MAX_LENGTH = 2000
DEFAULT_PORTS = {"http": 80, "https": 443, "ssh": 22}
# Below 1024 live the services of a machine: mail, files, remote shells. The web has two of these
# ports, and ssh has its own and, where nothing else gets through, that of https.
FIRST_FREE_PORT = 1024
LOW_PORTS = {"http": (80, 443), "https": (80, 443), "ssh": (22, 443)}
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# `127.1`, `0x7f000001` and `017700000001` are addresses to some programs and names to others.
NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
IN_PATH = "/%:@!$&'()*+,;=~-._"
IN_QUERY = IN_PATH + "?"


@dataclass(frozen=True)
class Url:
    """An address in its one spelling: lower case, ASCII, a port that is always known."""

    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = DEFAULT_PORTS.get(self.scheme) == self.port
        return f"{self.scheme}://{host}" if usual else f"{self.scheme}://{host}:{self.port}"

    def __str__(self) -> str:
        return self.origin + self.path + (f"?{self.query}" if self.query else "")


def parse_url(text: str, *, schemes: Collection[str]) -> Url:
    parts = _split(text.strip())
    if parts.scheme not in schemes:
        raise UrlRefused(
            "url_scheme",
            _("The address must begin with %(schemes)s.")
            % {"schemes": ", ".join(f"{scheme}://" for scheme in schemes)},
        )
    if "@" in parts.netloc:
        raise UrlRefused(
            "url_credentials",
            _("The address must not contain a user name or a password."),
        )
    if parts.fragment:
        raise UrlRefused("url_fragment", _("The address must not contain “#”."))
    return Url(
        scheme=parts.scheme,
        host=_host(parts),
        port=_port(parts),
        path=quote(parts.path, safe=IN_PATH),
        query=quote(parts.query, safe=IN_QUERY),
    )


def _split(text: str) -> SplitResult:
    odd = any(char <= " " or char.isspace() or char in "\\\x7f" for char in text)
    if not odd and 0 < len(text) <= MAX_LENGTH:
        try:
            return urlsplit(text)
        except ValueError:
            pass
    raise UrlRefused("url_invalid", _("This is not a complete web address."))


def _port(parts: SplitResult) -> int:
    try:
        port = parts.port if parts.port is not None else DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        port = 0
    if port < FIRST_FREE_PORT and port not in LOW_PORTS.get(parts.scheme, ()):
        if parts.scheme == "ssh":
            message = _("The port must be 22, 443 or a number from 1024 to 65535.")
        else:
            message = _("The port must be 80, 443 or a number from 1024 to 65535.")
        raise UrlRefused("url_port", message)
    return port


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    try:
        if "[" in parts.netloc:
            if "%" in host:  # a zone, which names a network card of this machine
                raise _bad_host()
            return str(IPv6Address(host))
        if not host.isascii():
            host = idna.encode(host, uts46=True).decode()
        return _name(host.lower().removesuffix("."))
    except (AddressValueError, idna.IDNAError, UnicodeError):
        raise _bad_host() from None


def _name(host: str) -> str:
    labels = host.split(".")
    if NUMBER.fullmatch(labels[-1]):
        return str(IPv4Address(host))
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in labels):
        raise _bad_host()
    return host


def _bad_host() -> UrlRefused:
    return UrlRefused(
        "url_host",
        _("The host in the address is neither a name nor an address such as 192.0.2.1."),
    )
