"""What an address belongs to: the internet, a private network, or nothing anybody may ask for."""

from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from glossary_site.outbound.allowed import Address


class Reach(Enum):
    PUBLIC = "public"
    # This machine and the networks behind it: open where the operator says so.
    PRIVATE = "private"
    # Broadcast, multicast, link-local, and the places where clouds keep their credentials.
    NEVER = "never"


# What clouds tell their own machines, secrets included. Not all of it is link-local.
METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
)
THIS_NETWORK = IPv4Network("0.0.0.0/8")
# An IPv4 address in the last four bytes: translation by a gateway, and the old way of writing one.
NAT64 = IPv6Network("64:ff9b::/96")
COMPATIBLE = IPv6Network("::/96")


def plain(text: str) -> Address:
    """The address itself: IPv4 that hides in IPv6 is taken out of it."""
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and (
            address in NAT64 or (address in COMPATIBLE and int(address) > 0xFFFF)
        ):
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return inner
    return address


def reach_of(address: Address) -> Reach:
    """Takes what `plain()` gives. What is not known to be public is not."""
    if address.is_loopback:
        return Reach.PRIVATE
    if (
        address in METADATA
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address.is_reserved
        or (isinstance(address, IPv4Address) and address in THIS_NETWORK)
        or (isinstance(address, IPv6Address) and address.teredo is not None)
    ):
        return Reach.NEVER
    if isinstance(address, IPv6Address) and address.is_site_local:
        return Reach.PRIVATE
    return Reach.PUBLIC if address.is_global else Reach.PRIVATE
