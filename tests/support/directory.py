"""A directory that answers as a test says: for what a real one does only on bad days. Also names for the gate."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from keybearer.outbound.addresses import Address
from keybearer.outbound.allowed import parse_allowed
from keybearer.outbound.gate import Gate
from support.listening import listening

__all__ = ["BIND", "EXTENDED", "SEARCH", "Told", "answered", "found", "loopback_gate", "scripted_directory"]

BIND, SEARCH, DONE, EXTENDED, UNBIND = 0x60, 0x63, 0x65, 0x77, 0x42
_ANSWER_OF = {BIND: 0x61, SEARCH: DONE, EXTENDED: 0x78}


@dataclass
class Told:
    """What a directory was asked, and from how many connections."""

    requests: list[bytes] = field(default_factory=list)
    connections: int = 0


def element(tag: int, content: bytes) -> bytes:
    """Return one BER element with a length of any size."""
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def message(number: int, operation: bytes) -> bytes:
    """Return a message."""
    return element(0x30, element(0x02, bytes([number])) + operation)


def answered(number: int, tag: int, code: int) -> bytes:
    """Return the answer that ends a request of this tag."""
    return message(number, element(_ANSWER_OF[tag], element(0x0A, bytes([code])) + b"\x04\x00\x04\x00"))


def found(number: int, dn: str, **attributes: str) -> bytes:
    """Return one entry of a search."""
    listed = b"".join(
        element(0x30, element(0x04, name.encode()) + element(0x31, element(0x04, value.encode())))
        for name, value in attributes.items()
    )
    return message(number, element(0x64, element(0x04, dn.encode()) + element(0x30, listed)))


Script = Callable[[int, int, bytes], bytes | None]
"""Number and tag of a request and the whole of it to what is answered; None hangs up."""


@asynccontextmanager
async def scripted_directory(
    script: Script, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[int, Told]]:
    """Serve the script on loopback; yield the port, and what is told."""
    told = Told()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.connections += 1
        while True:
            request = await _request(reader)
            if request[5] == UNBIND:
                break
            told.requests.append(request)
            reply = script(request[4], request[5], request)
            if reply is None:
                break
            writer.write(reply)
            await writer.drain()

    async with listening(serve, tls=tls) as port:
        yield port, told


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(2)
    if head[1] < 0x80:
        return head + await reader.readexactly(head[1])
    # Long requests are shortened to the same place of number and tag.
    length = await reader.readexactly(head[1] - 0x80)
    return head + await reader.readexactly(int.from_bytes(length, "big"))


def loopback_gate(
    *allow: str, name: str = "ldap.example.com", answers: Sequence[str] = ("127.0.0.1",)
) -> Gate:
    """Return a gate for which the name is on loopback at first, and has no address ever after."""
    left = [list(answers)]

    async def resolve(host: str, port: int) -> Sequence[Address]:  # noqa: ARG001 - a resolver's arguments
        if host != name or not left:
            raise OSError(host)
        return [ipaddress.ip_address(text) for text in left.pop()]

    return Gate(parse_allowed(allow), resolve)
