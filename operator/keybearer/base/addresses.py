"""IP addresses that are written in two ways."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

__all__ = ["as_ipv4"]


def as_ipv4(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address maps (RFC 4291 section 2.5.5.2), and any other one as it is.

    Clients and kernels treat both alike, so what holds for one has to hold for the other.
    """
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped
