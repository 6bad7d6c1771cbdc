"""How much of what is in place may be removed, at once and within a window: one rule for all of it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from keybearer.controllers.annotations import RELEASE_GUARD, how_to_ask
from keybearer.controllers.resource_fields import write_duration

__all__ = [
    "REMOVALS_MAX",
    "REMOVAL_NAMES_MAX",
    "GuardRules",
    "GuardVerdict",
    "GuardWords",
    "Removal",
    "RemovedShare",
    "is_too_much",
    "judge_removals",
    "remember",
    "share_of_removed",
]

REMOVALS_MAX = 20
"""Changes that are remembered one by one; the oldest are put together."""
REMOVAL_NAMES_MAX = 200
"""Names that are remembered of one change; the rest is counted."""


@dataclass(frozen=True, slots=True)
class GuardRules:
    """What a spec lets be removed.

    Attributes:
        max_deletions: percent.
        window: how long a removal counts towards that.
    """

    max_deletions: int
    window: timedelta


@dataclass(frozen=True, slots=True)
class Removal:
    """A change that the guard let pass and that removed names.

    Attributes:
        at: when.
        of: how many names there were before it.
        names: those that went.
        omitted: how many more went.
    """

    at: datetime
    of: int
    names: tuple[str, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class RemovedShare:
    """How much would be gone after a change.

    Attributes:
        removed: names that it removes, and those that went within the window and didn't come back.
        before: the most names that there were within the window.
    """

    removed: int
    before: int
    needs_release: bool


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Whether a change may go.

    Attributes:
        holds_back: it may not.
        message: what to say then.
        past: what is remembered once it went; None: what was remembered before.
    """

    holds_back: bool
    message: str = ""
    past: tuple[Removal, ...] | None = None


@dataclass(frozen=True, slots=True)
class GuardWords:
    """How people are told of a change that is held back.

    Attributes:
        what: the names, and what would become of them.
        outcome: what is done instead.
    """

    what: str
    outcome: str


def judge_removals(
    remove: tuple[str, ...],
    before: int,
    rules: GuardRules,
    *,
    past: Sequence[Removal],
    there: Collection[str],
    released: bool,
    now: datetime,
    words: GuardWords,
) -> GuardVerdict:
    """Return whether a change may go, by the names that it removes.

    Args:
        remove: those names.
        before: how many there are.
        rules: what may go.
        past: removals that passed before.
        there: names that are there, or are wanted.
        released: a person saw this change and let it pass, this once.
        now: the present instant.
        words: for the message.
    """
    if not remove:
        return GuardVerdict(holds_back=False)
    if released:
        # Whoever let this pass has seen what is gone: it is counted anew from here.
        return GuardVerdict(holds_back=False, past=())
    share = share_of_removed(remove, before, rules, past=past, there=there, now=now)
    if not share.needs_release:
        new = Removal(now.replace(microsecond=0), before, remove)
        return GuardVerdict(holds_back=False, past=remember(past, new, rules.window))
    earlier = share.removed - len(remove)
    after = f" after {earlier} others within {write_duration(rules.window)}" if earlier else ""
    return GuardVerdict(
        holds_back=True,
        message=f"{len(remove)} of {before} {words.what}{after}, more than the guard lets at once "
        f"({rules.max_deletions} %, and never all); {words.outcome}. Mend the source, or release it once with "
        f"{how_to_ask(RELEASE_GUARD)}",
    )


def share_of_removed(
    remove: Sequence[str],
    before: int,
    rules: GuardRules,
    *,
    past: Sequence[Removal],
    there: Collection[str],
    now: datetime,
) -> RemovedShare:
    """Return how much a change removes, and whether a person must release it.

    Args:
        remove: names that it removes.
        before: how many there are.
        rules: what may go.
        past: what went before.
        there: names that are there, or are wanted: of what went before, these came back.
        now: the present instant.
    """
    recent = [one for one in past if now - one.at < rules.window]
    gone = {name for one in recent for name in one.names}.difference(there).union(remove)
    removed = len(gone) + sum(one.omitted for one in recent)
    most = max([before, *(one.of for one in recent)])
    too_much = is_too_much(len(remove), before, rules.max_deletions)
    too_much |= bool(remove) and removed * 100 > rules.max_deletions * most
    return RemovedShare(removed, most, needs_release=before > 0 and too_much)


def is_too_much(removing: int, before: int, max_deletions: int) -> bool:
    """Tell whether a person must release a change that removes so many of those that there are: never all pass."""
    if not removing or not before:
        return False
    return removing >= before or removing * 100 > max_deletions * before


def remember(past: Sequence[Removal], new: Removal, window: timedelta) -> tuple[Removal, ...]:
    """Return what is remembered of a change that passes: bounded, and nothing that is older than the window.

    A change is noted before it is made. Where it then wasn't made, and is decided upon anew, it is still one change.
    """
    earlier = (one for one in past if not _is_repeated(one, new))
    kept = [_bounded(one) for one in (*earlier, new) if new.at - one.at < window]
    while len(kept) > REMOVALS_MAX:
        kept[:2] = [_together(kept[0], kept[1])]
    return tuple(kept)


def _is_repeated(one: Removal, new: Removal) -> bool:
    return not one.omitted and one.of <= new.of and set(one.names) <= set(new.names)


def _together(one: Removal, later: Removal) -> Removal:
    names = tuple(dict.fromkeys((*one.names, *later.names)))
    # As late as the later one: rather held once too often than once too little.
    return _bounded(Removal(later.at, max(one.of, later.of), names, one.omitted + later.omitted))


def _bounded(one: Removal) -> Removal:
    surplus = len(one.names) - REMOVAL_NAMES_MAX
    if surplus <= 0:
        return one
    return Removal(one.at, one.of, one.names[:REMOVAL_NAMES_MAX], one.omitted + surplus)
