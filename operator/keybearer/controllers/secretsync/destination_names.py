"""Names at a destination: what a push would do to them, whether the guard lets it, what the status tells. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from keybearer.client import SecretSync
from keybearer.controllers.annotations import RELEASE_GUARD, how_to_ask
from keybearer.controllers.resource_fields import told_instant
from keybearer.controllers.secretsync.status import (
    FAILED_MAX,
    FOREIGN_MAX,
    FailedName,
    PushStatus,
    RemoteSyncStatus,
)
from keybearer.controllers.target.changes import KeyChanges, some_of
from keybearer.controllers.target.guard import (
    GuardRules,
    GuardVerdict,
    GuardWords,
    Removal,
    is_too_much,
    judge_removals,
)
from keybearer.wire.key_schema import may_be_of

__all__ = [
    "BUSY",
    "PASSES",
    "NameState",
    "PlacedName",
    "PlacedNames",
    "PushEffect",
    "has_news",
    "is_parked",
    "is_shown",
    "judge_counts",
    "judge_names",
    "next_attempt",
    "with_names",
]

PASSES = GuardVerdict(holds_back=False)
"""Nothing is removed."""
_NEXT_ATTEMPT = re.compile(r"(?:; the next attempt is at|, and the rest follows at) (\S+Z)$")
"""How our service ends the message of a push that it tries again, or goes on with, by itself (decision 0028)."""
BUSY = frozenset({"pending", "running"})
"""What the status of a job says until it has ended."""


class NameState(StrEnum):
    """Where a name stands; a word that isn't among these means one of ours that is in place."""

    SYNCED = "synced"
    PENDING = "pending"
    FAILED = "failed"
    REMOVING = "removing"
    FOREIGN = "foreign"


_UNSURE = (NameState.PENDING, NameState.FAILED)
"""Of these the service doesn't say whether an older value is in place."""


@dataclass(frozen=True, slots=True)
class PlacedName:
    """One name.

    Attributes:
        key: the secret of the folder that it is made from; None where it is wanted no more, or never was.
        state: a word of `NameState`.
        message: why it failed.
    """

    name: str
    key: str | None
    state: str
    message: str | None = None


@dataclass(frozen=True, slots=True)
class PushEffect:
    """What a push would do.

    Attributes:
        changes: names, as the destination has them.
        before: how many names of ours are in place.
        kept: names of ours that stay, or are to come.
    """

    changes: KeyChanges
    before: int
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PlacedNames:
    """What the service tells of a sync's destination."""

    names: tuple[PlacedName, ...] = ()

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Names of others, sorted."""
        return tuple(sorted(one.name for one in self.names if one.state == NameState.FOREIGN))

    @cached_property
    def failed(self) -> tuple[PlacedName, ...]:
        """Names that could not be written or removed, sorted."""
        return tuple(
            sorted((one for one in self._ours() if one.state == NameState.FAILED), key=lambda one: one.name)
        )

    def effect(self, wanted: Collection[str], pushed: int | None, *, removes: bool = True) -> PushEffect:
        """Return what a push would do.

        Args:
            wanted: keys of the folder.
            pushed: how many secrets the last push carried, if it succeeded; else None.
            removes: whether the sync removes anything at all.
        """
        # Some destinations take upper and lower case for the same, and the service tells the key either way.
        folded = {key.casefold() for key in wanted}
        kept = [one for one in self._ours() if _is_wanted(one, folded)]
        gone = tuple(sorted(one.name for one in self._ours() if self._goes(one, folded)))
        unsure = tuple(sorted(one.name for one in kept if one.state in _UNSURE))
        sure = len(kept) - len(unsure) + len(gone)
        # After a push that succeeded exactly so many are in place; nothing is known after one that failed.
        older = min(max((pushed or 0) - sure, 0), len(unsure))
        there = {one.key.casefold() for one in kept if one.key is not None}
        new = [key for key in wanted if key.casefold() not in there]
        changes = KeyChanges(
            add=tuple(sorted((*new, *(() if older else unsure)))),
            change=unsure if older else (),
            remove=gone if removes else (),
        )
        return PushEffect(changes, sure + older, frozenset(one.name for one in kept))

    def _goes(self, one: PlacedName, folded: Collection[str]) -> bool:
        """Tell whether a push removes it: the former name of a secret stays while its present one is refused."""
        if _is_wanted(one, folded):
            return False
        return one.key is not None or not may_be_of(one.name, self._refused_keys)

    @cached_property
    def _refused_keys(self) -> frozenset[str]:
        return frozenset(one.key for one in self.failed if one.key is not None)

    def _ours(self) -> Iterator[PlacedName]:
        return _not_foreign(self.names)


def _not_foreign(names: Iterable[PlacedName]) -> Iterator[PlacedName]:
    return (one for one in names if one.state != NameState.FOREIGN)


def _is_wanted(one: PlacedName, folded: Collection[str]) -> bool:
    return one.state != NameState.REMOVING and one.key is not None and one.key.casefold() in folded


def judge_names(
    effect: PushEffect,
    rules: GuardRules,
    *,
    past: Sequence[Removal],
    released: bool,
    now: datetime,
) -> GuardVerdict:
    """Return whether a push may go, by the names that it removes.

    Args:
        effect: what it does.
        rules: what may go.
        past: removals that passed before.
        released: a person saw these names and let them pass, this once.
        now: the present instant.
    """
    remove = effect.changes.remove
    return judge_removals(
        remove,
        effect.before,
        rules,
        past=past,
        there=effect.kept,
        released=released,
        now=now,
        words=GuardWords(
            f"names would be removed from the destination ({some_of(remove)})", "nothing is pushed"
        ),
    )


def judge_counts(before: int | None, now: int, rules: GuardRules, *, released: bool) -> GuardVerdict:
    """Return whether a push may go, where the service tells no names: by how many secrets there are.

    Args:
        before: how many were pushed last; None before the first push.
        now: how many there are.
        rules: what may go.
        released: a person let it pass, this once.
    """
    if released or before is None or now >= before:
        return PASSES
    vanishing = before - now
    if not is_too_much(vanishing, before, rules.max_deletions):
        return PASSES
    what = "all of them" if not now else f"{vanishing} of them, more than {rules.max_deletions} %"
    return GuardVerdict(
        holds_back=True,
        message=f"the source had {before} secrets and has {now}: {what} would be removed from the destination; if "
        f"that is meant, release it once with {how_to_ask(RELEASE_GUARD)}",
    )


def next_attempt(message: str | None) -> datetime | None:
    """Return when the service goes on with a push by itself; None where it doesn't, or doesn't say so."""
    found = None if message is None else _NEXT_ATTEMPT.search(message)
    return None if found is None else told_instant(found[1])


def is_parked(sync: SecretSync, now: datetime) -> bool:
    """Tell whether a push waits for a time that its remote asked for: whoever sets it off now breaks into that."""
    due_at = next_attempt(sync.last_sync_message) if sync.sync_status == "pending" else None
    return due_at is not None and due_at > now


def has_news(before: RemoteSyncStatus | None, now: RemoteSyncStatus) -> bool:
    """Tell whether a push has ended since the last look and left something to say of single names."""
    if now.sync_status in BUSY or not (now.sync_status == "failed" or now.last_sync_message):
        return False
    if before is None:
        return True
    ends = [(one.last_sync_job_id, one.sync_status, one.last_sync_message) for one in (before, now)]
    return ends[0] != ends[1]


def with_names(push: PushStatus, names: PlacedNames | None) -> PushStatus:
    """Return the status with what is told of single names; None: nothing is."""
    known = names or PlacedNames()
    failed = tuple(
        FailedName(name=one.name, key=one.key, message=one.message) for one in known.failed[:FAILED_MAX]
    )
    return push.model_copy(
        update={
            "failed": failed or None,
            "failed_total": len(known.failed) or None,
            "foreign": known.foreign[:FOREIGN_MAX] or None,
            "foreign_total": len(known.foreign) or None,
        }
    )


def is_shown(push: PushStatus, names: PlacedNames) -> bool:
    """Tell whether the status shows just the names of others that there are now."""
    shown = push.foreign or (), push.foreign_total or 0
    return shown == (names.foreign[:FOREIGN_MAX], len(names.foreign))
