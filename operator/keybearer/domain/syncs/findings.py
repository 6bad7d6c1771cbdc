"""What a look at a destination found: how much others changed, and what people are told of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from keybearer.destinations.protocol import Traits
from keybearer.domain.syncs.outcomes import MESSAGE_MAX, shortened, told_of_others
from keybearer.domain.syncs.plan import Ledger, Plan

__all__ = ["repaired_names", "told_after_look"]


def repaired_names(planned: Plan, ledger: Ledger, traits: Traits) -> list[str]:
    """Return the names that a plan writes though the sync wrote just that before: others changed or deleted them.

    Of what was written without the remote's version being learnt, that can't be told.
    """
    return [
        one.name
        for one in planned.change.put
        if (push := ledger.get(one.name)) is not None
        and push.digest == planned.digests[one.name]
        and (traits.has_readable_values or push.remote_version is not None)
    ]


def told_after_look(
    planned: Plan, shared: Mapping[str, str | None], former_places: Iterable[str]
) -> str | None:
    """Return what people are told of a destination that is as it is to be; None: nothing.

    Args:
        planned: what was found to do.
        shared: names that other syncs wrote to the same place.
        former_places: what is said of them.
    """
    overlap = {name: owner for name, owner in shared.items() if name in planned.digests}
    others = told_of_others(planned.foreign, overlap)
    told = ". ".join(([] if others is None else [others]) + list(former_places))
    return shortened(told, MESSAGE_MAX) if told else None
