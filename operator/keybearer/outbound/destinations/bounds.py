"""What drivers share, whatever they call: how much one place may hold, and names that are refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from keybearer.outbound.destinations.protocol import Change, Outgoing, Written
from keybearer.outbound.remote import RemoteRefusedError

__all__ = ["Bounds", "Refusals", "one_by_one"]

_NAMES_MAX = 10_000
_BYTES_MAX = 64 * 1024 * 1024
_REFUSALS_MAX = 10


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


class Refusals:
    """Names that were refused in one run. One of them keeps none of the others from being written."""

    def __init__(self) -> None:
        self._errors: dict[str, RemoteRefusedError] = {}

    def add(self, name: str, error: RemoteRefusedError) -> None:
        """Take note of a refusal.

        Raises:
            RemoteRefusedError: it is the last of too many: it isn't the names.
        """
        self._errors[name] = error
        if len(self._errors) >= _REFUSALS_MAX:
            self.tell()

    def tell(self) -> None:
        """Return if nothing was refused.

        Raises:
            RemoteRefusedError: something was; the text says why of the first, and names the others.
        """
        for first in self._errors.values():
            others = ", ".join(list(self._errors)[1:])
            raise RemoteRefusedError(
                f"{first}. Refused as well: {others}" if others else str(first)
            ) from first


async def one_by_one(
    change: Change,
    put: Callable[[Outgoing], Awaitable[str | None]],
    delete: Callable[[str], Awaitable[None]],
) -> AsyncIterator[Written]:
    """Make a change a name at a time, for a remote that takes no more at once.

    Args:
        change: to be made.
        put: writes one; returns its version where the remote tells it.
        delete: removes one.

    Raises:
        RemoteError: something of it wasn't done.
    """
    refusals = Refusals()
    for outgoing in change.put:
        try:
            version = await put(outgoing)
        except RemoteRefusedError as error:
            refusals.add(outgoing.name, error)
        else:
            yield Written(outgoing.name, version=version)
    for name in change.delete:
        await delete(name)
        yield Written(name, is_removed=True)
    refusals.tell()
