"""Connections of a real service, with TLS and without: what is refused before there is a request."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from keybearer.wire.limits import OPEN_BODY_MAX_BYTES, REQUEST_HEAD_MAX_BYTES
from support.self_signed import certificate
from support.service_fixtures import Service, start_service
from tools.local.waiting import PATIENCE_SECONDS

MOST = 10
ASKING = b"GET /api/status HTTP/1.1\r\nhost: x\r\n\r\n"
LOGIN = b"POST /api/v1/auth/universal-auth/login HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"


@dataclass
class Door:
    """A service that takes ten connections, and how to come to it."""

    service: Service
    trusted: ssl.SSLContext | None
    opened: list[socket.socket] = field(default_factory=list)

    def knock(self) -> socket.socket:
        """Connect, and say nothing."""
        url = urlsplit(self.service.url)
        connected = socket.create_connection((str(url.hostname), url.port or 0), timeout=PATIENCE_SECONDS)
        self.opened.append(connected)
        return connected

    def enter(self) -> socket.socket:
        """Connect as far as a request may be sent."""
        connected = self.knock()
        if self.trusted is None:
            return connected
        self.opened.remove(connected)
        secured = self.trusted.wrap_socket(connected, server_hostname="127.0.0.1")
        self.opened.append(secured)
        return secured

    def leave(self) -> None:
        """End all connections."""
        while self.opened:
            self.opened.pop().close()


@pytest.fixture(scope="module", params=["plain", "tls"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    directory = tmp_path_factory.mktemp("connections")
    flags, trusted = ["--max-connections", str(MOST)], None
    if request.param == "tls":
        chain, key = certificate(directory, serial=1)
        flags += ["--tls-cert", str(chain), "--tls-key", str(key)]
        trusted = ssl.create_default_context(cafile=chain)
    service = start_service(directory / "data", *flags, scheme="https" if trusted else "http")
    yield Door(service, trusted)
    service.stop()


@pytest.fixture
def door(running: Door) -> Iterator[Door]:
    yield running
    running.leave()


def heard(connection: socket.socket) -> bytes:
    """Return what comes until the other side ends the connection."""
    parts = []
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    ("start", "more"),
    [
        pytest.param(b"GET /", b"a" * 1000, id="a path"),
        pytest.param(b"GET / HTTP/1.1\r\n", b"x: y\r\n" * 150, id="fields"),
        pytest.param(LOGIN + b"x: ", b"a" * 1000, id="a trailing field"),
    ],
)
def test_a_head_without_an_end_is_refused(door: Door, start: bytes, more: bytes) -> None:
    connection = door.enter()
    sent = 0
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        connection.sendall(start)
        while sent < 64 * REQUEST_HEAD_MAX_BYTES:
            connection.sendall(more)
            sent += len(more)
    answer = heard(connection)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    other = door.enter()
    other.sendall(ASKING)
    assert other.recv(12) == b"HTTP/1.1 200"


@pytest.mark.deep
def test_who_says_nothing_or_half_of_it_is_not_kept(door: Door) -> None:
    knocking, silent, halting = door.knock(), door.enter(), door.enter()
    halting.sendall(ASKING[:-2])
    assert [heard(connection) for connection in (silent, halting, knocking)] == [b""] * 3


def test_one_connection_too_many_is_told_when_to_come_again(door: Door) -> None:
    taken = [door.enter() for _ in range(MOST)]
    for connection in taken:
        connection.sendall(ASKING)  # counted for certain, as soon as it is answered
        assert connection.recv(12) == b"HTTP/1.1 200"
    head, _, body = heard(door.enter()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nretry-after: 1" in head
    assert json.loads(body)["error"] == "ServiceUnavailable"


def test_a_body_that_is_announced_too_long_is_refused_before_it_comes(door: Door) -> None:
    connection = door.enter()
    head = LOGIN.partition(b"transfer")[0] + b"content-length: %d\r\n\r\n" % (OPEN_BODY_MAX_BYTES + 1)
    connection.sendall(head)
    assert connection.recv(12) == b"HTTP/1.1 413"
