"""What drivers share, whatever they call: how much one place may hold, and changes of a name at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from keybearer.outbound.destinations.protocol import Change, Outgoing, Refused, Written
from keybearer.outbound.remote import RemoteRefusedError

__all__ = ["Bounds", "one_by_one"]

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
        self._bytes += len(name) + len(value.encode())
        if self._names > _NAMES_MAX or self._bytes > _BYTES_MAX:
            raise RemoteRefusedError(
                f"the destination holds more than {_NAMES_MAX:,} names or {_BYTES_MAX >> 20} MiB; choose a "
                "place, or a key schema, of its own for this sync"
            )


async def one_by_one(
    change: Change,
    put: Callable[[Outgoing], Awaitable[str | None]],
    delete: Callable[[str], Awaitable[None]],
) -> AsyncIterator[Written | Refused]:
    """Make a change a name at a time, for a remote that takes no more at once.

    Args:
        change: to be made.
        put: writes one; returns its version where the remote tells it.
        delete: removes one.

    Raises:
        RemoteError: something of it wasn't done, and it wasn't for one name.
    """
    for outgoing in change.put:
        outcome: Written | Refused
        try:
            outcome = Written(outgoing.name, version=await put(outgoing))
        except RemoteRefusedError as error:
            outcome = Refused.by(error, outgoing.name)
        yield outcome
    for name in change.delete:
        await delete(name)
        yield Written(name, is_removed=True)
