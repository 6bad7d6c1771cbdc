"""No connection outlives the server of a test, however it stands."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from support.listening import listening
from support.self_signed import certificate
from tools.local.waiting import PATIENCE


async def forever(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return what a server and what a client need."""
    chain, key = certificate(tmp_path, 1)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(chain, key)
    return server, ssl.create_default_context(cadata=chain.read_text())


def has_ended(client: socket.socket) -> bool:
    client.settimeout(PATIENCE.total_seconds())
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


async def test_a_connection_that_does_nothing_has_ended() -> None:
    async with listening(forever) as port:
        client = socket.create_connection(("127.0.0.1", port))
    with client:
        assert has_ended(client)


async def test_a_connection_without_a_handshake_has_ended(
    tls: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    async with listening(forever, tls=tls[0]) as port:
        client = socket.create_connection(("127.0.0.1", port))
    with client:
        assert has_ended(client)


async def test_a_session_that_nobody_closed_has_ended(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    def connected(port: int) -> ssl.SSLSocket:
        client = socket.create_connection(("127.0.0.1", port))
        return tls[1].wrap_socket(client, server_hostname="127.0.0.1")

    async with listening(forever, tls=tls[0]) as port:
        client = await asyncio.to_thread(connected, port)
    with client:
        assert has_ended(client)


async def test_what_is_answered_arrives_before_the_end(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        await writer.drain()

    async with listening(answer, tls=tls[0]) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls[1])
        writer.write(b"cnry\n")
        assert await reader.readline() == b"cnry\n"
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
