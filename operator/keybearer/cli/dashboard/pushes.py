"""What was pushed where. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from keybearer.cli.dashboard.attention import tone_of
from keybearer.cli.dashboard.record import Push, Record
from keybearer.cli.dashboard.view import Cell, Detail, Query, Row, View, more_about, paged
from keybearer.cli.kubectl.standing import Health

__all__ = ["pushes"]

_LISTED = 50


class _Item(NamedTuple):
    record: Record
    push: Push


def pushes(records: Iterable[Record], query: Query, notes: tuple[str, ...]) -> View:
    """Return what SecretSyncs push to other stores, failures first."""
    every = [_Item(record, record.push) for record in records if record.push is not None]
    found = [
        one
        for one in every
        if query.finds(
            *(one.record.standing.namespace, one.record.standing.name, one.push.destination),
            *(one.push.connection, one.push.source),
        )
    ]
    found.sort(
        key=lambda one: (one.record.standing.urgency, one.record.standing.namespace, one.record.standing.name)
    )
    well = sum(one.record.standing.health is Health.CURRENT for one in every)
    view = partial(
        View,
        name="pushes",
        heading="What is pushed to other stores",
        summary=f"{well:,} of {len(every):,} pushes are in step."
        if every
        else "Nothing is pushed to another store.",
        columns=("SecretSync", "From", "To", "Pushed", "State"),
        notes=notes,
    )
    return paged(view, found, query, _row)


def _row(item: _Item) -> Row:
    one, push = item.record.standing, item.push
    name = f"{one.namespace}/{one.name}"
    through = f" through {push.connection}" if push.connection else ""
    keys = "" if push.keys is None else f"{push.keys} secrets"
    return Row(
        key=name,
        title=f"SecretSync {name}",
        tone=tone_of(item.record),
        cells=(
            Cell(name),
            Cell(push.source),
            Cell(f"{push.destination}{through}"),
            Cell(keys if push.at else "not yet", push.at),
            Cell(push.status or one.reason),
        ),
        details=tuple(_details(item)),
    )


def _details(item: _Item) -> Iterator[Detail]:
    one, push = item.record.standing, item.push
    for place in push.places:
        yield Detail("Place", place)
    yield Detail("State", f"{one.reason}: {one.message}" if one.message else one.reason)
    if push.message:
        yield Detail("The service says", push.message)
    for failed in push.failed[:_LISTED]:
        yield Detail("Failed", failed)
    if push.failed_total > len(push.failed):
        yield Detail("Failed", f"{push.failed_total - len(push.failed)} more names")
    if push.foreign:
        yield Detail("Of others", f"{push.foreign} names at the destination, which stay")
    yield more_about(one.kind, one.namespace, one.name)
