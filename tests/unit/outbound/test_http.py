from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpcore
import pytest

from keybearer.outbound.errors import (
    OutboundFailedError,
    OutboundRefusedError,
    OutboundUnreachableError,
    OutboundUntrustedError,
)
from keybearer.outbound.gate import Gate
from keybearer.outbound.http import BODY_LIMIT_BYTES, GatedBackend, OutboundAnswer, OutboundHttp
from keybearer.outbound.trust import trust
from keybearer.outbound.urls import OutboundUrl
from support.directory import loopback_gate
from support.listening import listening
from tools.controlplane.certificates import create_identity
from tools.local.waiting import PATIENCE

NAME = "api.example.com"
LISTED = "127.0.0.0/8"


def reply(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@asynccontextmanager
async def server(
    answer: bytes | None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Answer every request so; None never answers. Yield the port and the requests."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        if answer is not None:
            writer.write(answer)
            await writer.drain()
        await reader.read()

    async with listening(serve, tls=tls) as port:
        yield port, seen


async def post(
    gate: Gate,
    port: int,
    *,
    scheme: str = "http",
    host: str = NAME,
    ca_pem: str = "",
    bearer: str = "cnry-bearer",
) -> OutboundAnswer:
    return await OutboundHttp(gate).post_json(
        OutboundUrl(scheme, host, port, "/reviews"),
        b"{}",
        bearer=bearer,
        trusted=trust(ca_pem),
        timeout=PATIENCE,
    )


async def test_a_listed_host_is_called_at_the_address_that_was_checked() -> None:
    # The name has an address once only: a second resolution would fail.
    async with server(reply("201 Created", b'{"a":1}')) as (port, seen):
        answer = await post(loopback_gate(LISTED, name=NAME), port)
    assert (answer.status, answer.body) == (201, b'{"a":1}')
    assert seen[0].startswith(b"POST /reviews HTTP/1.1\r\n")
    assert f"host: {NAME}:{port}".encode() in seen[0].lower()


async def test_an_address_that_takes_no_connection_is_followed_by_the_next() -> None:
    async with server(reply("200 OK")) as (port, _):
        both = loopback_gate(LISTED, name=NAME, answers=["127.0.0.2", "127.0.0.1"])
        assert (await post(both, port)).status == 200
        refused = f"nothing listens at {NAME}:{port} \\(connection refused\\)"
        with pytest.raises(OutboundUnreachableError, match=refused):
            await post(loopback_gate(LISTED, name=NAME, answers=["127.0.0.2"]), port)


async def test_a_name_that_leads_inside_is_not_called() -> None:
    async with server(reply("200 OK")) as (port, seen):
        with pytest.raises(OutboundRefusedError):
            await post(loopback_gate(name=NAME), port)
    assert seen == []


async def test_one_url_may_be_called_besides_and_nothing_else_of_its_host() -> None:
    async with server(reply("200 OK")) as (port, seen):
        opened = OutboundUrl("http", "127.0.0.1", port, "/reviews")
        http = OutboundHttp(loopback_gate(), opened)

        async def call(url: OutboundUrl) -> int:
            return (await http.post_json(url, b"{}", bearer="b", trusted=trust(""))).status

        assert await call(opened) == 200
        for other in (
            replace(opened, path=""),
            replace(opened, path="/reviews/x"),
            replace(opened, path="/x/reviews"),
            replace(opened, scheme="https"),
            replace(opened, port=1),
            replace(opened, host="::ffff:127.0.0.1"),
        ):
            with pytest.raises(OutboundRefusedError):
                await call(other)
        assert await call(opened) == 200
    assert len(seen) == 2


async def test_a_name_that_leads_to_metadata_is_not_called_even_where_the_name_is_listed() -> None:
    with pytest.raises(OutboundRefusedError, match="link-local"):
        await post(loopback_gate(NAME, name=NAME, answers=["169.254.169.254"]), 80)


async def test_without_tls_only_listed_hosts_are_called() -> None:
    with pytest.raises(OutboundRefusedError, match="without TLS"):
        await post(loopback_gate(name=NAME, answers=["8.8.8.8"]), 80)


async def test_a_redirect_is_an_answer() -> None:
    location = "Location: http://169.254.169.254/"
    async with server(reply("302 Found", b"", location)) as (port, seen):
        assert (await post(loopback_gate(LISTED, name=NAME), port)).status == 302
    assert len(seen) == 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reply("200 OK", b"x" * (BODY_LIMIT_BYTES + 1)), id="told beforehand"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + (b"8000\r\n" + b"x" * 0x8000 + b"\r\n") * 3,
            id="in chunks without end",
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000, id="in headers"),
        pytest.param(b"220 mail.example.com ESMTP\r\n\r\n", id="another protocol"),
    ],
)
async def test_an_answer_without_measure_or_sense_is_refused(answer: bytes) -> None:
    async with server(answer) as (port, _):
        with pytest.raises(OutboundFailedError):
            await post(loopback_gate(LISTED, name=NAME), port)


async def test_the_longest_answer_is_taken() -> None:
    async with server(reply("200 OK", b"x" * BODY_LIMIT_BYTES)) as (port, _):
        assert len((await post(loopback_gate(LISTED, name=NAME), port)).body) == BODY_LIMIT_BYTES


async def test_a_host_that_never_answers_is_left() -> None:
    async with server(None) as (port, _):
        with pytest.raises(OutboundFailedError, match="too long"):
            await OutboundHttp(loopback_gate(LISTED, name=NAME)).post_json(
                OutboundUrl("http", NAME, port, ""),
                b"{}",
                bearer="cnry-bearer",
                trusted=trust(""),
                timeout=timedelta(milliseconds=50),
            )


async def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with server(reply("200 OK")) as (port, seen):
        assert (await post(loopback_gate(LISTED, name=NAME), port)).status == 200
    assert len(seen) == 1


@pytest.mark.parametrize("bearer", ["", "a b", "a\r\nX-Injected: 1", "ä"])
async def test_a_bearer_that_is_no_header_is_not_sent(bearer: str) -> None:
    async with server(reply("200 OK")) as (port, seen):
        with pytest.raises(OutboundFailedError, match="bearer"):
            await post(loopback_gate(LISTED, name=NAME), port, bearer=bearer)
    assert seen == []


async def test_tls_is_verified_against_the_name(tmp_path: Path) -> None:
    identity = create_identity(tmp_path, datetime.now(UTC))
    ca_pem = identity.ca_certificate.read_text()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.server.certificate, identity.server.key)
    async with server(reply("200 OK"), context) as (port, seen):
        answer = await post(
            loopback_gate(LISTED, name="localhost"), port, scheme="https", host="localhost", ca_pem=ca_pem
        )
        assert answer.status == 200
        for host, trusted, says in (
            (NAME, ca_pem, "isn't trusted: Hostname mismatch"),
            ("localhost", "", "isn't trusted: .*self.signed|isn't trusted: .*issuer"),
        ):
            with pytest.raises(OutboundUntrustedError, match=says):
                await post(loopback_gate(LISTED, name=host), port, scheme="https", host=host, ca_pem=trusted)
    assert len(seen) == 1


async def test_a_name_without_an_address_is_named() -> None:
    with pytest.raises(OutboundUnreachableError, match=f"the host's name {NAME} can't be resolved"):
        await post(loopback_gate(LISTED), 443)


async def test_a_host_that_takes_no_connection_in_time_is_told_apart() -> None:
    class Silent(httpcore.AnyIOBackend):
        async def connect_tcp(self, *_: object, **__: object) -> httpcore.AsyncNetworkStream:
            raise httpcore.ConnectTimeout

    backend = GatedBackend(loopback_gate(LISTED, name=NAME), needs_listing=False)
    backend._network = Silent()
    with pytest.raises(OutboundUnreachableError, match=f"no connection to {NAME}:443 within 5 s"):
        await backend.connect_tcp(NAME, 443)


async def test_a_port_without_tls_is_told_apart() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.com ESMTP\r\n")
        await writer.drain()
        await reader.read()

    async with listening(greet) as port:
        with pytest.raises(OutboundFailedError, match="check that the port speaks TLS"):
            await post(loopback_gate(LISTED, name=NAME), port, scheme="https")
