"""Decides which addresses are inner ones, which a caller's data must not reach through the service. Pure."""

from __future__ import annotations

import ipaddress

from keybearer.base.addresses import as_ipv4

__all__ = ["Address", "Network", "inner_kind", "plain_address"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""RFC 6052: the last 32 bits are an IPv4 address."""
_COMPATIBLE = ipaddress.IPv6Network("::/96")
"""RFC 4291 section 2.5.5.1, deprecated: the last 32 bits are an IPv4 address."""
_TUNNELS = (
    ipaddress.IPv6Network("64:ff9b:1::/48"),  # RFC 8215: translation that a network defines for itself
    ipaddress.IPv6Network("2001::/32"),  # RFC 4380: Teredo, whose end is hidden in the address
)
_SHARED = (
    ipaddress.IPv4Network("100.64.0.0/10"),  # RFC 6598: inside a carrier; clouds use it inside as well
    ipaddress.IPv4Network("192.0.0.0/24"),  # RFC 6890: protocol assignments, metadata of one cloud
    ipaddress.IPv4Network("192.88.99.0/24"),  # RFC 7526: relays of 6to4
    ipaddress.IPv4Network("198.18.0.0/15"),  # RFC 2544: benchmarks
)

_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "fd00:ec2::254",  # private addresses all of them, or shared ones
            "fd20:ce::254",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",  # looks like one of the open Internet
        ),
    )
)
"""Where clouds give credentials to their machines, apart from link-local addresses."""


def plain_address(text: str) -> Address | None:
    """Return the address that a text is, without a zone, or None for anything else, a name for example."""
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return ipaddress.IPv6Address(int(address))
    return address


def inner_kind(address: Address) -> str | None:
    """Return what kind of inner address it is, in words for a message; None for one of the open Internet.

    An IPv4 address that is embedded in an IPv6 one is judged as IPv4, as a router or kernel treats it.
    """
    address = as_ipv4(address)
    if isinstance(address, ipaddress.IPv6Address):
        translated = _translated(address)
        if translated is not None:
            return inner_kind(translated)
    kinds = (
        ("cloud metadata", address in _METADATA),
        ("unspecified", address.is_unspecified),
        ("loopback", address.is_loopback),
        ("link-local", address.is_link_local),
        ("multicast", address.is_multicast),
        ("private", _is_private(address)),
        ("reserved", address.is_reserved or not address.is_global),
    )
    return next((kind for kind, holds in kinds if holds), None)


def _translated(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address to which a gateway or a tunnel sends what is for this one."""
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def _is_private(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_private or any(address in network for network in _SHARED)
    return address.is_private or address.is_site_local or any(address in network for network in _TUNNELS)
