"""Where a credential may be used from (wire.md section 1.1)."""

from __future__ import annotations

import ipaddress

from keybearer.base.addresses import as_ipv4
from keybearer.domain.errors import ForbiddenError, InvalidError

__all__ = ["EVERY_ADDRESS", "is_trusted", "networks", "require_address", "source_of"]

EVERY_ADDRESS = ("0.0.0.0/0", "::/0")
"""The trusted ranges of a credential that may be used from anywhere."""


def networks(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses and ranges as ranges.

    Raises:
        InvalidError: one of them is neither; it is not repeated.
    """
    try:
        return tuple(str(ipaddress.ip_network(address.strip(), strict=False)) for address in addresses)
    except ValueError as error:
        raise InvalidError("A trusted IP is no address or range; write 192.0.2.7 or 192.0.2.0/24") from error


def is_trusted(ranges: tuple[str, ...], address: str | None) -> bool:
    """Return whether an address lies in one of the ranges; one that is not known lies in none but all of them."""
    if ranges == EVERY_ADDRESS:
        return True
    try:
        given = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    given = as_ipv4(given)
    return any(given in ipaddress.ip_network(trusted) for trusted in ranges)


def require_address(ranges: tuple[str, ...], address: str | None) -> None:
    """Let pass an address that lies in one of the ranges.

    Raises:
        ForbiddenError: it lies in none, or is not known.
    """
    if not is_trusted(ranges, address):
        raise ForbiddenError("This credential may not be used from this IP address", name="ForbiddenError")


def source_of(address: str | None) -> str:
    """Return what counts as one address: of IPv6 the network of 64 bits, which one household has whole.

    Without an address it is a socket of this machine: all who come by it count as one.
    """
    if address is None or ":" not in address:
        return address or ""
    parsed = as_ipv4(ipaddress.IPv6Address(address.partition("%")[0]))
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(ipaddress.IPv6Network((parsed, 64), strict=False))
