"""Whether a push may go that removes names from its destination. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from keybearer.controllers.secretsync.destination_names import PushEffect
from keybearer.controllers.target.changes import some_of
from keybearer.controllers.target.guard import GuardRules, GuardVerdict, GuardWords, Removal, judge_removals

__all__ = ["PASSES", "judge_counts", "judge_names"]


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
    if now and vanishing * 100 <= before * rules.max_deletions:
        return PASSES
    what = "all of them" if not now else f"{vanishing} of them, more than {rules.max_deletions} %"
    return GuardVerdict(
        holds_back=True,
        message=f"the source had {before} secrets and has {now}: {what} would be removed from the destination; if "
        "that is meant, annotate keybearer.dev/request: release-guard with a fresh keybearer.dev/requestedAt",
    )
