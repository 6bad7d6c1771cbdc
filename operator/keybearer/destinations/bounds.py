"""Limits what is read from one place, so that it can't fill the memory of the service."""

from __future__ import annotations

from keybearer.destinations.remote import RemoteRefusedError

__all__ = ["Bounds"]

_NAMES_MAX = 10_000
_BYTES_MAX = 64 * 1024 * 1024


class Bounds:
    """How much one place may hold; more would fill the memory of the service."""

    def __init__(self) -> None:
        self._names = 0
        self._bytes = 0

    def add(self, name: str, value: str = "") -> None:
        """Count what was read.

        Raises:
            RemoteRefusedError: it is too much.
        """
        self._names += 1
        self._bytes += len(name)
        self.grow(value)

    def grow(self, value: str) -> None:
        """Count a value that was looked up for a name which is counted already.

        Raises:
            RemoteRefusedError: it is too much.
        """
        self._bytes += len(value.encode())
        if self._names > _NAMES_MAX or self._bytes > _BYTES_MAX:
            raise RemoteRefusedError(
                f"the destination holds more than {_NAMES_MAX:,} names or {_BYTES_MAX >> 20} MiB; choose a "
                "place, or a key schema, of its own for this sync"
            )
