"""Sends single HTTP requests through the gate, without redirects, proxies and content decoding."""

from __future__ import annotations

import asyncio
import errno
import re
import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

import httpcore

from keybearer.base.errors import causes_of
from keybearer.outbound.errors import (
    OutboundFailedError,
    OutboundRefusedError,
    OutboundUnreachableError,
    OutboundUntrustedError,
)
from keybearer.outbound.gate import CONNECT_SECONDS, Gate
from keybearer.outbound.urls import OutboundUrl

__all__ = ["BODY_LIMIT_BYTES", "GatedBackend", "OutboundAnswer", "OutboundHttp"]

BODY_LIMIT_BYTES = 64 * 1024
_TIMEOUT = timedelta(seconds=10)
_VISIBLE = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class OutboundAnswer:
    """An answer; a redirect is an answer like any other."""

    status: int
    body: bytes = field(repr=False)


class OutboundHttp:
    """Sends requests through the gate, each over its own connection.

    Args:
        gate: for all requests.
        opened: a URL that may be called too, but no other path of its host.
    """

    def __init__(self, gate: Gate, opened: OutboundUrl | None = None) -> None:
        self._gate = gate
        self._opened = opened
        self._gate_of_opened = gate if opened is None else gate.opened_to(opened.place)

    async def post_json(
        self,
        url: OutboundUrl,
        body: bytes,
        *,
        bearer: str,
        trusted: ssl.SSLContext,
        timeout: timedelta = _TIMEOUT,  # noqa: ASYNC109 - the whole exchange has one deadline, set below
        limit_bytes: int = BODY_LIMIT_BYTES,
    ) -> OutboundAnswer:
        """Send a JSON body and return the answer.

        Raises:
            OutboundRefusedError: the host may not be called, or not without TLS.
            OutboundUnreachableError: there is no connection to it.
            OutboundUntrustedError: its certificate isn't trusted.
            OutboundFailedError: it took too long, speaks no TLS, or answers more than the limit.
        """
        if not _VISIBLE.fullmatch(bearer):
            raise OutboundFailedError("the bearer token holds a character that is not allowed in a header")
        headers = [
            ("Host", url.place),
            ("Authorization", f"Bearer {bearer}"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            ("Connection", "close"),
        ]
        target = httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.path or "/")
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                return await self._exchange(self._backend(url), target, headers, body, trusted, limit_bytes)
        except TimeoutError as error:
            raise OutboundFailedError("the host took too long to answer") from error

    def _backend(self, url: OutboundUrl) -> GatedBackend:
        gate = self._gate_of_opened if url == self._opened else self._gate
        return GatedBackend(gate, needs_listing=url.scheme == "http")

    async def _exchange(
        self,
        backend: GatedBackend,
        target: httpcore.URL,
        headers: list[tuple[str, str]],
        body: bytes,
        trusted: ssl.SSLContext,
        limit_bytes: int,
    ) -> OutboundAnswer:
        pool = httpcore.AsyncConnectionPool(
            ssl_context=trusted, max_connections=1, http2=False, retries=0, network_backend=backend
        )
        received = bytearray()
        try:
            async with pool, pool.stream("POST", target, headers=headers, content=body) as response:
                async for part in response.aiter_stream():
                    received += part
                    if len(received) > limit_bytes:
                        raise OutboundFailedError(f"the host answers more than {limit_bytes} bytes")
                return OutboundAnswer(response.status, bytes(received))
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            # A failed TLS handshake raises this too.
            raise _failed(error) from error


def _failed(error: Exception) -> OutboundFailedError:
    """Return what an exchange failed of; never with the library's message, which may repeat what was sent."""
    for cause in causes_of(error):
        match cause:
            case ssl.SSLCertVerificationError():
                return OutboundUntrustedError(f"the host's certificate isn't trusted: {cause.verify_message}")
            case ssl.SSLError():
                return OutboundFailedError(
                    f"the TLS handshake failed ({cause.reason}); check that the port speaks TLS"
                )
            case _:
                pass
    return OutboundFailedError(f"no usable answer came: {type(error).__name__}")


def _why_unconnected(error: BaseException | None, place: str) -> str:
    """Return why there is no connection to a place, HOST:PORT as it was named."""
    for cause in causes_of(error):
        match cause:
            case ConnectionRefusedError():
                return f"nothing listens at {place} (connection refused)"
            case httpcore.ConnectTimeout() | TimeoutError():
                return f"no connection to {place} within {CONNECT_SECONDS:g} s"
            case OSError(errno=errno.ENETUNREACH | errno.EHOSTUNREACH):
                return f"there is no route to {place}"
            case _:
                pass
    return f"no connection to {place}"


class GatedBackend(httpcore.AsyncNetworkBackend):
    """Connects to addresses that the gate allows."""

    def __init__(self, gate: Gate, *, needs_listing: bool) -> None:
        self._gate = gate
        self._needs_listing = needs_listing
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to one of the host's checked addresses."""
        place = await self._gate.check(host, port)
        if self._needs_listing and not place.listed:
            raise OutboundRefusedError("the host may not be called without TLS; use https")
        failure: httpcore.NetworkError | httpcore.TimeoutException | None = None
        for address in place.addresses:
            try:
                # Connect to the checked address, so that the name is not resolved again.
                return _Stream(
                    await self._network.connect_tcp(
                        str(address),
                        port,
                        min(timeout or CONNECT_SECONDS, CONNECT_SECONDS),
                        local_address,
                        socket_options,
                    )
                )
            except (httpcore.NetworkError, httpcore.TimeoutException) as error:
                failure = error
        raise OutboundUnreachableError(
            f"the host can't be reached: {_why_unconnected(failure, f'{host}:{port}')}"
        ) from failure


class _Stream(httpcore.AsyncNetworkStream):
    """Closes the connection if the TLS handshake fails; the library leaves that to the garbage collector."""

    def __init__(self, plain: httpcore.AsyncNetworkStream) -> None:
        self._plain = plain

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the library's
        return await self._plain.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the library's
        await self._plain.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._plain.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
    ) -> httpcore.AsyncNetworkStream:
        try:
            return await self._plain.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self._plain.aclose()
            raise

    def get_extra_info(self, info: str) -> object:
        return self._plain.get_extra_info(info)
