"""Checks every host that a caller's data names before the service connects to it.

A name is resolved once, all its addresses are checked, and the connection goes to one that passed. If the name
resolves to something else a moment later, that changes nothing. TLS is still verified against the name.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from keybearer.outbound.addresses import Address, inner_kind, plain_address
from keybearer.outbound.allowed import AllowedOutbound, parse_allowed
from keybearer.outbound.errors import OutboundRefusedError, OutboundUnreachableError
from keybearer.outbound.urls import folded_host

__all__ = ["CONNECT_SECONDS", "CheckedPlace", "Gate", "Resolver", "resolve_by_system"]

Resolver = Callable[[str, int], Awaitable[Sequence[Address]]]
"""Returns the addresses of a name; raises OSError if there are none."""

_MAX_ADDRESSES = 4
"""How many addresses of one name are tried: each may take the full time limit to fail."""
CONNECT_SECONDS = 5.0
"""Time limit for resolving a name, and for connecting to each of its addresses."""


@dataclass(frozen=True, slots=True)
class CheckedPlace:
    """A place that may be called.

    Attributes:
        host: as it was named; TLS is verified against it.
        port: to connect to.
        addresses: that passed; no other may be connected to. At least one.
        listed: whether `--allow-outbound` lists them, so that connections without TLS are allowed.
    """

    host: str
    port: int
    addresses: tuple[Address, ...]
    listed: bool


class Gate:
    """Decides where the service may connect to, and connects."""

    def __init__(self, allowed: AllowedOutbound, resolve: Resolver | None = None) -> None:
        self._allowed = allowed
        self._resolve = resolve or resolve_by_system

    def opened_to(self, place: str) -> Gate:
        """Return a gate that allows this place too, as if it were listed.

        Data of callers may name the same place, so use this gate only for requests that are meant for it.

        Args:
            place: HOST:PORT.

        Raises:
            ConfigurationError: it is not a host and a port.
        """
        return Gate(AllowedOutbound((*self._allowed.entries, *parse_allowed([place]).entries)), self._resolve)

    async def check(self, host: str, port: int) -> CheckedPlace:
        """Return the addresses of the host that may be connected to.

        Raises:
            OutboundRefusedError: all of them are inner addresses, and none is listed.
            OutboundUnreachableError: the host has no address.
        """
        name = folded_host(host)
        literal = plain_address(name)
        if literal is not None:
            found: Sequence[Address] = [literal]
        else:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    found = await self._resolve(name, port)
            except (OSError, UnicodeError) as error:  # a TimeoutError is an OSError
                raise OutboundUnreachableError(f"the host's name {name} can't be resolved") from error
        listed = tuple(address for address in found if self._allowed.lists(name, address, port))
        passed = listed or tuple(address for address in found if inner_kind(address) is None)
        if not passed:
            kinds = sorted({kind for address in found if (kind := inner_kind(address)) is not None})
            raise OutboundRefusedError(
                f"the host has only {' and '.join(kinds) or 'unusable'} addresses, which are not called by default; "
                "to allow the host, list it with --allow-outbound"
            )
        return CheckedPlace(name, port, passed[:_MAX_ADDRESSES], listed=bool(listed))

    async def connect(self, place: CheckedPlace) -> socket.socket:
        """Return a socket for asyncio that is connected to one of the addresses; the caller closes it.

        Raises:
            OutboundUnreachableError: none of them accepts a connection.
        """
        loop = asyncio.get_running_loop()
        failure: OSError | None = None
        for address in place.addresses:
            connecting = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)
            with contextlib.ExitStack() as undo:
                undo.callback(connecting.close)
                connecting.settimeout(0)  # asyncio waits, not the socket
                try:
                    async with asyncio.timeout(CONNECT_SECONDS):
                        await loop.sock_connect(connecting, (str(address), place.port))
                except OSError as error:
                    failure = error
                    continue
                undo.pop_all()
                return connecting
        raise OutboundUnreachableError("the host can't be reached") from failure


async def resolve_by_system(host: str, port: int) -> Sequence[Address]:
    """Return the addresses that the operating system's resolver finds for a name.

    Raises:
        OSError: there are none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = (plain_address(str(sockaddr[0])) for *_, sockaddr in found)
    return [address for address in dict.fromkeys(addresses) if address is not None]
