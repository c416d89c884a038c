"""Which private places the operator has opened: `GLOSSARY_PRIVATE_URLS_ALLOWED`.

An entry is a name (`ollama`), an address (`127.0.0.1`) or a range (`192.168.1.0/24`), with a port
behind it if only that one is meant: `localhost:11434`, `[fd00::/8]:8000`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
BRACKETS = re.compile(r"\[(?P<host>[^\]]+)\](:(?P<port>\d+))?")


@dataclass(frozen=True)
class Allowed:
    """One entry. It names a host or a network, never both."""

    name: str
    network: Network | None
    port: int | None

    def covers(self, host: str, port: int, address: Address) -> bool:
        if self.port not in (None, port):
            return False
        if self.network is None:
            return self.name == host
        return address.version == self.network.version and address in self.network


def parse_allowed(entries: Iterable[str]) -> tuple[Allowed, ...]:
    return tuple(_parse(entry.strip()) for entry in entries if entry.strip())


def _parse(entry: str) -> Allowed:
    host, port = _split(entry)
    if port is not None and not 0 < port < 65536:
        raise ValueError(f"“{entry}” has a port that does not exist")
    try:
        return Allowed("", ip_network(host), port)
    except ValueError as error:
        name = host.lower().removesuffix(".")
        # What looks like a number is a mistyped address, and "/" belongs to a range.
        if NAME.fullmatch(name) and not name.rpartition(".")[2].isdigit():
            return Allowed(name, None, port)
        raise ValueError(f"“{entry}” is no host name, address or range") from error


def _split(entry: str) -> tuple[str, int | None]:
    if found := BRACKETS.fullmatch(entry):
        return found["host"], int(found["port"]) if found["port"] else None
    host, colon, port = entry.partition(":")
    if colon and port.isascii() and port.isdigit():
        return host, int(port)
    return entry, None  # a name without a port, or IPv6 without brackets
