"""How each name of a sync stands, from what the service knows without a look at the destination. Pure."""

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
    """How a name stands."""

    SYNCED = "synced"
    """It was written as the source has it now."""
    PENDING = "pending"
    """It is to be written."""
    FAILED = "failed"
    """It was refused."""
    REMOVING = "removing"
    """This sync wrote it, and the source has it no more."""
    FOREIGN = "foreign"
    """The last look found it, and this sync neither wrote nor imported it."""


@dataclass(frozen=True, slots=True)
class KeyStanding:
    """How one name at the destination stands.

    Attributes:
        key: of the source; None for what is others', or was named by a former key schema.
        message: why it isn't in place, if there is anything to say.
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
    """Return how each name stands, by name.

    Args:
        names: what the source comes to.
        ledger: what was written.
        noted: names that failed, and those that the last look found to be others'.
        digest: keyed, of what is written.
        naming: of the keys within the destination.
        removes_nothing: whether what isn't wanted any more stays there.
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
