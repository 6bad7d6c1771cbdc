"""Checks passwords with an LDAP directory: search the user by name, then bind as the entry that was found."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from keybearer.outbound.errors import OutboundFailedError
from keybearer.outbound.gate import CheckedPlace, Gate
from keybearer.outbound.ldap_filter import Filter
from keybearer.outbound.ldap_messages import (
    SUCCESS,
    Entry,
    Other,
    Result,
    bind_request,
    message_length,
    read_message,
    search_request,
    start_tls_request,
    unbind_request,
)
from keybearer.outbound.urls import OutboundUrl

__all__ = ["Directory", "DirectoryAccess", "DirectoryUser", "WrongPasswordError"]

_TIMEOUT = timedelta(seconds=10)
_LIMIT_BYTES = 64 * 1024
"""Limit of all answers of one login together."""
_MAX_FOUND = 2
"""Two entries are enough to know that the filter is ambiguous."""
_INVALID_CREDENTIALS = 49

_Read = Callable[[int], Awaitable[bytes]]
"""Returns exactly as many bytes as requested."""


class WrongPasswordError(Exception):
    """The directory knows nobody with that name and password."""


@dataclass(frozen=True, slots=True)
class DirectoryAccess:
    """How to ask a directory.

    Attributes:
        url: `ldaps://`, or `ldap://`, which begins with StartTLS but where the gate lists the host and no CA is set.
        trusted: for TLS.
        demands_tls: whether a listed host must do StartTLS as well.
        bind_dn: of the account that searches.
        bind_password: of this account; not empty.
        search_base: DN below which users are.
    """

    url: OutboundUrl
    trusted: ssl.SSLContext
    demands_tls: bool
    bind_dn: str
    bind_password: str = field(repr=False)
    search_base: str


@dataclass(frozen=True, slots=True)
class DirectoryUser:
    """The user who logged in, with attributes by their names in lower case."""

    dn: str
    attributes: Mapping[str, Sequence[bytes]] = field(repr=False)


class Directory:
    """Asks directories through the gate."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def authenticate(
        self, access: DirectoryAccess, search: Filter, password: str, attributes: Sequence[str]
    ) -> DirectoryUser:
        """Return the user that the search finds and whose password this is.

        Raises:
            WrongPasswordError: it finds nobody or several, or the password is another's.
            OutboundRefusedError: the host may not be called.
            OutboundFailedError: the directory can't be asked: not reached, not verified, or it refuses the search.
        """
        if not password:
            raise WrongPasswordError  # a bind without a password succeeds, as nobody (RFC 4513 section 5.1.2)
        try:
            async with asyncio.timeout(_TIMEOUT.total_seconds()):
                place = await self._gate.check(access.url.host, access.url.port)
                session = await self._open(access, place)
                async with contextlib.aclosing(session):
                    await session.bind(access.bind_dn, access.bind_password)
                    user = await session.find(access.search_base, search, attributes)
                    await session.bind_user(user.dn, password)
                    return user
        except TimeoutError as error:
            raise OutboundFailedError("the directory took too long to answer") from error
        except (OSError, asyncio.IncompleteReadError) as error:  # TLS that can't be verified is an OSError
            raise OutboundFailedError(f"the connection failed: {type(error).__name__}") from error

    async def _open(self, access: DirectoryAccess, place: CheckedPlace) -> _Session:
        connected = await self._gate.connect(place)
        secured = access.url.scheme == "ldaps" or access.demands_tls or not place.listed
        with contextlib.ExitStack() as undo:
            undo.callback(connected.close)
            first_id = 1
            if secured and access.url.scheme == "ldap":
                await _start_tls(connected, first_id)
                first_id += 1
            # What a server sent beyond its answer to StartTLS is still in the socket, where it breaks the handshake.
            reader, writer = await asyncio.open_connection(
                sock=connected,
                ssl=access.trusted if secured else None,
                server_hostname=place.host if secured else None,
            )
            undo.pop_all()
        return _Session(reader, writer, first_id)


class _Session:
    """Requests one after the other on one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first_id: int) -> None:
        self._answers = _Answers(reader.readexactly)
        self._writer = writer
        self._next_id = first_id

    async def bind(self, dn: str, password: str) -> None:
        """Be the one who searches."""
        code = await self._bound(dn, password)
        if code != SUCCESS:
            raise OutboundFailedError(f"the directory refuses the bind DN: result code {code}")

    async def bind_user(self, dn: str, password: str) -> None:
        """Find out whether the password is the user's."""
        code = await self._bound(dn, password)
        if code == _INVALID_CREDENTIALS:
            raise WrongPasswordError
        if code != SUCCESS:
            # An account that is locked or expired, for example.
            raise OutboundFailedError(f"the directory refuses the user: result code {code}")

    async def find(self, base: str, search: Filter, attributes: Sequence[str]) -> DirectoryUser:
        """Return the only entry that is found."""
        number = self._number()
        seconds = int(_TIMEOUT.total_seconds())
        request = search_request(number, base, search, attributes, size_limit=_MAX_FOUND, seconds=seconds)
        await self._send(request)
        found: list[Entry] = []
        while not isinstance(answer := await self._answers.next(number), Result):
            if isinstance(answer, Entry):
                found.append(answer)
        if len(found) == 1 and answer.code == SUCCESS and found[0].dn:
            return DirectoryUser(found[0].dn, found[0].attributes)
        if found or answer.code == SUCCESS:
            raise WrongPasswordError
        raise OutboundFailedError(f"the directory refuses the search: result code {answer.code}")

    async def aclose(self) -> None:
        """Say good-bye and close, whatever the other side does."""
        with contextlib.suppress(OSError):
            self._writer.write(unbind_request(self._number()))
        self._writer.close()

    async def _bound(self, dn: str, password: str) -> int:
        number = self._number()
        await self._send(bind_request(number, dn, password))
        return await self._answers.result(number)

    async def _send(self, request: bytes) -> None:
        self._writer.write(request)
        await self._writer.drain()

    def _number(self) -> int:
        number, self._next_id = self._next_id, self._next_id + 1
        return number


class _Answers:
    """Messages of the other side; of all together no more bytes than the limit are read."""

    def __init__(self, read: _Read) -> None:
        self._read = read
        self._left = _LIMIT_BYTES

    async def next(self, number: int) -> Result | Entry | Other:
        """Return the next answer to the request of this number."""
        head = b""
        while (lengths := message_length(head)) is None:
            head += await self._take(1)
        _, length = lengths
        content = await self._take(length)
        # Reading BER takes its time: the loop goes on meanwhile.
        answered, operation = await asyncio.to_thread(read_message, head + content)
        if answered != number:
            raise OutboundFailedError("the directory answers something that was not asked")
        return operation

    async def result(self, number: int) -> int:
        """Return the result code of the request of this number."""
        answer = await self.next(number)
        if not isinstance(answer, Result):
            raise OutboundFailedError("the directory answers something that was not asked")
        return answer.code

    async def _take(self, count: int) -> bytes:
        self._left -= count
        if self._left < 0:
            raise OutboundFailedError(f"the directory answers more than {_LIMIT_BYTES} bytes")
        return await self._read(count)


async def _start_tls(connected: socket.socket, number: int) -> None:
    """Agree on TLS. Reads the answer and not a byte more: what follows it belongs to the handshake."""
    loop = asyncio.get_running_loop()

    async def read(count: int) -> bytes:
        received = b""
        while len(received) < count:
            part = await loop.sock_recv(connected, count - len(received))
            if not part:
                raise asyncio.IncompleteReadError(received, count)
            received += part
        return received

    await loop.sock_sendall(connected, start_tls_request(number))
    code = await _Answers(read).result(number)
    if code != SUCCESS:
        raise OutboundFailedError(f"the directory refuses StartTLS: result code {code}; use ldaps://")
