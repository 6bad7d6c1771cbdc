"""What a listing of a destination shows: what others changed there, and the message about it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from keybearer.destinations.protocol import Traits
from keybearer.domain.syncs.outcomes import MESSAGE_MAX, counted, shortened
from keybearer.domain.syncs.plan import Ledger, Plan

__all__ = ["repaired_names", "told_after_look"]


def repaired_names(planned: Plan, ledger: Ledger, traits: Traits) -> list[str]:
    """Return the names that a plan writes again with the same content, because others changed or deleted them.

    Names whose version at the destination is unknown are left out where values can't be read back.
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
    """Return the message for a destination that holds what it should; None if there is nothing to say.

    Args:
        planned: what is to be done, with the foreign names that match the key schema.
        shared: names that other syncs wrote to the same place, each with the name of such a sync of the same project,
            if there is one.
        former_places: messages about them.
    """
    told: list[str] = []
    if planned.foreign:
        told.append(
            f"{counted(len(planned.foreign))} at the destination came from elsewhere and stayed; to have them "
            "removed, push once with removeForeign, or set a key schema to keep apart from them"
        )
    overlap = {name: owner for name, owner in shared.items() if name in planned.digests}
    if overlap:
        owners = sorted({owner for owner in overlap.values() if owner is not None})
        others = f"others, such as the sync '{owners[0]}'" if owners else "syncs of other projects"
        told.append(
            f"{counted(len(overlap))} of this sync {'is' if len(overlap) == 1 else 'are'} also written by {others}: "
            "each overwrites what the other wrote; set key schemas to keep them apart"
        )
    return shortened(". ".join([*told, *former_places]), MESSAGE_MAX) or None
