"""The list of `keybearer serve --allow-outbound`: inner places that callers' data may name. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from keybearer.base.errors import ConfigurationError
from keybearer.outbound.addresses import Address, Network, inner_kind

__all__ = ["AllowedOutbound", "parse_allowed"]

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,252})")
_BY_NAME = frozenset({None, "private", "loopback", "reserved"})
"""Kinds of addresses that a listed name allows: its DNS must not lead to cloud metadata or link-local addresses."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry: a range of addresses or a name, with one port or all ports."""

    place: Network | str
    port: int | None

    def admits(self, host: str, address: Address, port: int) -> bool:
        if self.port is not None and self.port != port:
            return False
        if isinstance(self.place, str):
            return self.place == host and inner_kind(address) in _BY_NAME
        return address.version == self.place.version and address in self.place


@dataclass(frozen=True, slots=True)
class AllowedOutbound:
    """The list, empty by default."""

    entries: tuple[_Entry, ...] = ()

    def lists(self, host: str, address: Address, port: int) -> bool:
        """Return whether an entry names this place.

        Args:
            host: as the caller's data name it, folded as `folded_host` does.
            address: what the host resolved to.
            port: to connect to.
        """
        return any(entry.admits(host, address, port) for entry in self.entries)


def parse_allowed(texts: Iterable[str]) -> AllowedOutbound:
    """Return a list of entries `CIDR|HOST[:PORT]`; an IPv6 address with a port is in brackets.

    Raises:
        ConfigurationError: an entry has another form.
    """
    return AllowedOutbound(tuple(_parse(text.strip()) for text in texts))


def _parse(text: str) -> _Entry:
    try:
        return _Entry(ipaddress.ip_network(text, strict=False), None)
    except ValueError:
        pass
    place, colon, port = text.rpartition(":")
    if not colon:
        place, port = text, ""
    elif not port.isdecimal() or not 0 < int(port) <= 65_535:
        raise _unreadable(text)
    number = int(port) if port else None
    bracketed = place.startswith("[") and place.endswith("]")
    try:
        return _Entry(ipaddress.ip_network(place[1:-1] if bracketed else place, strict=False), number)
    except ValueError:
        name = place.lower().rstrip(".")
        if bracketed or not _HOST.fullmatch(name):
            raise _unreadable(text) from None
        return _Entry(name, number)


def _unreadable(text: str) -> ConfigurationError:
    return ConfigurationError(
        f"--allow-outbound {text!r} is neither range nor host; write for example 10.0.0.0/8, "
        "ldap.example.com, ldap.example.com:636 or [fd00::7]:636"
    )
