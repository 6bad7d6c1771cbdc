"""Whether a push may go that removes names from its destination. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from keybearer.controllers.resource_fields import write_duration
from keybearer.controllers.secretsync.destination_names import PushEffect
from keybearer.controllers.target.changes import some_of
from keybearer.controllers.target.guard import GuardRules, Removal, remember, share_of_removed

__all__ = ["PASSES", "GuardVerdict", "judge_counts", "judge_names"]


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Whether a push may go.

    Attributes:
        holds_back: it may not.
        message: what to say then.
        past: what is remembered once it went; None: what was remembered before.
    """

    holds_back: bool
    message: str = ""
    past: tuple[Removal, ...] | None = None


PASSES = GuardVerdict(holds_back=False)
"""Nothing is removed."""


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
    if not remove:
        return PASSES
    if released:
        # Whoever let this pass has seen what is gone: it is counted anew from here.
        return GuardVerdict(holds_back=False, past=())
    share = share_of_removed(remove, effect.before, rules, past=past, there=effect.kept, now=now)
    if not share.needs_release:
        new = Removal(now.replace(microsecond=0), effect.before, remove)
        return GuardVerdict(holds_back=False, past=remember(past, new, rules.window))
    earlier = share.removed - len(remove)
    after = f" after {earlier} others within {write_duration(rules.window)}" if earlier else ""
    return GuardVerdict(
        holds_back=True,
        message=f"{len(remove)} of {effect.before} names would be removed from the destination ({some_of(remove)})"
        f"{after}, more than the guard lets at once ({rules.max_deletions} %, and never all); nothing is pushed. "
        "Mend the source, or release it once with the annotations keybearer.dev/request: release-guard and a fresh "
        "keybearer.dev/requestedAt",
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
    if now and vanishing * 100 <= before * rules.max_deletions:
        return PASSES
    what = "all of them" if not now else f"{vanishing} of them, more than {rules.max_deletions} %"
    return GuardVerdict(
        holds_back=True,
        message=f"the source had {before} secrets and has {now}: {what} would be removed from the destination; if "
        "that is meant, annotate keybearer.dev/request: release-guard with a fresh keybearer.dev/requestedAt",
    )
