"""The body of a request, which is checked once more at the moment when the request goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

__all__ = ["Body"]

_AT_ONCE_BYTES = 1024 * 1024
"""More is written in pieces, between which others have their turn."""


class Body(Payload):
    """Bytes that are written, and their headers with them, only if that is allowed by then.

    A request may wait for its connection, and its process may stand still meanwhile. aiohttp holds the headers back
    until the body begins, so that a request whose body is refused doesn't leave at all. The payload of bytes that
    aiohttp has writes them in one go, and warns of it from a mebibyte on.

    Attributes:
        refusal: what `allow` raised the last time; None where it raised nothing.
    """

    _value: bytes

    def __init__(self, content: bytes, allow: Callable[[], None] | None) -> None:
        super().__init__(content)
        self._size = len(content)
        self._allow = allow
        self.refusal: Exception | None = None

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the body as text."""
        return self._value.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write the whole body; see `write_with_length`."""
        await self.write_with_length(writer, None)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Write the body, up to that many bytes.

        Raises:
            Exception: whatever `allow` raises; nothing was written.
        """
        self.refusal = None  # aiohttp may repeat a request with the same body on a new connection
        if self._allow is not None:
            try:
                self._allow()
            except Exception as refusal:
                self.refusal = refusal
                raise
        content = memoryview(self._value)[:content_length]
        await writer.write(content[:_AT_ONCE_BYTES])
        for begin in range(_AT_ONCE_BYTES, len(content), _AT_ONCE_BYTES):
            await asyncio.sleep(0)
            await writer.write(content[begin : begin + _AT_ONCE_BYTES])
