"""The state of each name of a sync, from what the service knows without asking the destination. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from keybearer.destinations.protocol import Outgoing
from keybearer.domain.syncs.plan import Ledger, Names
from keybearer.store.sync_names import NameState, SyncName
from keybearer.wire.key_schema import KeyNaming

__all__ = ["KeyStanding", "KeyState", "standings"]

_KEPT = "it stays at the destination, because disableSecretDeletion is set"


class KeyState(StrEnum):
    """The state of a name."""

    SYNCED = "synced"
    """It was written as the source has it now."""
    PENDING = "pending"
    """It will be written."""
    FAILED = "failed"
    """It was refused."""
    REMOVING = "removing"
    """This sync wrote it, and the source no longer has it."""
    FOREIGN = "foreign"
    """The last look found it, and this sync neither wrote nor imported it."""


@dataclass(frozen=True, slots=True)
class KeyStanding:
    """The state of one name at the destination.

    Attributes:
        key: of the source; None for foreign names and names of a former key schema.
        message: why it isn't in place, if there is a reason to show.
    """

    name: str
    key: str | None
    state: KeyState
    message: str | None = None


def standings(
    names: Names,
    ledger: Ledger,
    noted: Iterable[SyncName],
    digest: Callable[[Outgoing], bytes],
    *,
    naming: KeyNaming,
    removes_nothing: bool,
    hidden: Collection[str] = (),
) -> list[KeyStanding]:
    """Return the state of each name, sorted by name.

    Args:
        names: what the source makes at the destination.
        ledger: what was written.
        noted: names that failed, and foreign names that the last listing found.
        digest: keyed, of what is written.
        naming: of the keys within the destination.
        removes_nothing: whether names that the source no longer has stay there.
        hidden: keys that the reader may not see; they are left out.
    """
    failed: dict[str, str | None] = {}
    foreign: list[str] = []
    for one in noted:
        if one.state == NameState.FAILED:
            failed[one.name] = one.message
        else:
            foreign.append(one.name)
    found: list[KeyStanding] = []
    for name, key in names.keys.items():
        if key in hidden:
            continue
        outgoing, push = names.wanted.get(name), ledger.get(name)
        if outgoing is None:
            found.append(KeyStanding(name, key, KeyState.FAILED, names.refused[name]))
        elif push is not None and push.digest == digest(outgoing):
            found.append(KeyStanding(name, key, KeyState.SYNCED))
        elif name in failed:
            found.append(KeyStanding(name, key, KeyState.FAILED, failed[name]))
        else:
            found.append(KeyStanding(name, key, KeyState.PENDING))
    found += [
        KeyStanding(name, naming.key_of(name), KeyState.REMOVING, _KEPT if removes_nothing else None)
        for name in ledger.keys() - names.keys.keys()
    ]
    known = names.keys.keys() | ledger.keys()
    found += [KeyStanding(name, None, KeyState.FOREIGN) for name in foreign if name not in known]
    return sorted(found, key=lambda one: one.name)
