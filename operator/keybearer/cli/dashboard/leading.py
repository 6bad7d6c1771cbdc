"""Which replica leads, and how long the queues are. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from keybearer.cli.dashboard.replicas import Lead, Operators, Replica
from keybearer.cli.dashboard.view import Cell, Detail, Query, Row, Tone, View, paged

__all__ = ["leading"]


def leading(seen: Operators, query: Query, now: datetime) -> View:
    """Return the Leases of operators, then their replicas."""
    holders = {one.holder for one in seen.leads if _is_held(one, now)}
    items: list[Lead | Replica] = [*seen.leads, *seen.replicas]
    found = [one for one in items if query.finds(str(one.key))]
    if holders:
        summary = f"{', '.join(sorted(map(_pod_of, holders)))} leads."
    elif seen.leads:
        summary = "No replica leads now."
    else:
        summary = (
            "You see no Lease of an operator: none runs with leader election, or you may not list Leases."
        )
    view = partial(
        View,
        name="operator",
        heading="The operator: who leads, and how long its queues are",
        summary=summary,
        columns=("Object", "State", "Since", "Queues"),
        notes=seen.notes,
    )

    def row(one: Lead | Replica) -> Row:
        return _row_of_lead(one, now) if isinstance(one, Lead) else _row_of_replica(one, holders)

    return paged(view, found, query, row)


def _is_held(lead: Lead, now: datetime) -> bool:
    return bool(lead.holder) and lead.expires is not None and lead.expires > now


def _pod_of(holder: str) -> str:
    """Return the pod of a holder: its host's name, before the random part."""
    return holder.rpartition("_")[0] or holder


def _row_of_lead(lead: Lead, now: datetime) -> Row:
    is_held = _is_held(lead, now)
    state = f"{_pod_of(lead.holder)} leads" if is_held else "nobody leads"
    details = [Detail("Holder", lead.holder)] if lead.holder else []
    details += [Detail("Renewed", at=lead.renewed), Detail("Runs out", "unless renewed", lead.expires)]
    return Row(
        key=f"Lease {lead.key}",
        title=f"Lease {lead.key}",
        tone=Tone.GOOD if is_held else Tone.BAD,
        cells=(Cell(f"Lease {lead.key}"), Cell(state), Cell(at=lead.acquired), Cell("-")),
        details=tuple(details),
    )


def _row_of_replica(replica: Replica, holders: set[str]) -> Row:
    leads = replica.key.name in set(map(_pod_of, holders))
    state = "leads" if leads else "standby" if holders else replica.phase
    queues = _queues(replica)
    return Row(
        key=f"Pod {replica.key}",
        title=f"Pod {replica.key}",
        tone=Tone.GOOD if replica.phase == "Running" else Tone.WAITING,
        cells=(Cell(f"Pod {replica.key}"), Cell(state), Cell(at=replica.started), Cell(queues)),
        details=(Detail("Phase", replica.phase), *_lanes(replica)),
    )


def _queues(replica: Replica) -> str:
    if replica.queues is None:
        return f"not known: {replica.why}"
    return f"{sum(replica.queues.values()):,} wait"


def _lanes(replica: Replica) -> Iterator[Detail]:
    for lane, depth in sorted((replica.queues or {}).items()):
        yield Detail(f"Queue {lane}", f"{depth:,} wait")
    if replica.queues is None:
        yield Detail("Queues", f"not known: {replica.why}")
