"""Runs a destination as the sync engine does, in few words."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.destinations.protocol import (
    Change,
    Destination,
    Outgoing,
    Present,
    Refused,
    Written,
)
from keybearer.destinations.remote import RemoteRefusedError

__all__ = ["change_of", "read", "run", "run_strictly"]


def change_of(put: Mapping[str, str] | None = None, *delete: str) -> Change:
    """Return a change that writes and removes these."""
    values = dict(put or {})
    return Change(tuple(Outgoing(name, value) for name, value in values.items()), delete, frozenset(values))


async def read(destination: Destination) -> dict[str, Present]:
    """Return what is there."""
    return dict(await destination.read(()))


async def run(
    destination: Destination, change: Change, written: list[Written | Refused] | None = None
) -> list[Written | Refused]:
    """Make the change and return what was told; `written` has it also where the destination fails midway."""
    told = [] if written is None else written
    async for one in destination.apply(change):
        told.append(one)
    return told


async def run_strictly(destination: Destination, change: Change) -> list[Written | Refused]:
    """Make the change and return what was told.

    Raises:
        RemoteError: the destination fails, or refuses a name.
    """
    told = await run(destination, change)
    for one in told:
        if isinstance(one, Refused):
            raise RemoteRefusedError(one.message)
    return told
