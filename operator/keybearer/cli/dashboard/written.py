"""How fresh Secrets are, which source feeds them, and which workloads use them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from keybearer.cli.dashboard.attention import tone_of
from keybearer.cli.dashboard.record import Record, Written
from keybearer.cli.dashboard.uses import How, Use
from keybearer.cli.dashboard.view import Cell, Detail, Query, Row, View, paged
from keybearer.cli.explanation_parts import names
from keybearer.cli.kubectl.standing import Health
from keybearer.kube.resources import ObjectKey

__all__ = ["Index", "User", "index_of", "used_by", "written_secrets"]

_NAMED = 3
_LISTED = 50


class User(NamedTuple):
    """A workload that uses an object, and how."""

    workload: str
    how: How


Index = Mapping[tuple[str, str, str], list[User]]
"""Users by namespace, kind and name of what they use."""


class _Item(NamedTuple):
    record: Record
    written: Written


def index_of(workloads: Iterable[tuple[str, ObjectKey, frozenset[Use]]]) -> Index:
    """Return who uses what; a workload is its kind, its key and its uses."""
    index: dict[tuple[str, str, str], list[User]] = {}
    for kind, key, uses in workloads:
        for one in sorted(uses):
            index.setdefault((key.namespace, one.kind, one.name), []).append(
                User(f"{kind} {key.name}", one.how)
            )
    return index


def written_secrets(records: Iterable[Record], index: Index, query: Query, notes: tuple[str, ...]) -> View:
    """Return what objects write, what isn't in step first."""
    every = [_Item(record, one) for record in records for one in record.written]
    found = [
        one
        for one in every
        if query.finds(
            one.record.standing.namespace,
            one.written.name,
            one.record.standing.name,
            *one.written.sources,
            *(user.workload for user in _users(one, index)),
        )
    ]
    found.sort(key=_order)
    behind = sum(one.record.standing.health is not Health.CURRENT for one in every)
    view = partial(
        View,
        name="secrets",
        heading="Secrets: where they come from, and who uses them",
        summary=f"{len(every) - behind:,} of {len(every):,} are in step with their source.",
        columns=("Secret", "Fresh", "From", "Used by"),
        notes=notes,
    )
    return paged(view, found, query, partial(_row, index=index))


def _order(item: _Item) -> tuple[int, str, str]:
    return item.record.standing.urgency, item.record.standing.namespace, item.written.name


def _users(item: _Item, index: Index) -> list[User]:
    return index.get((item.record.standing.namespace, item.written.kind, item.written.name), [])


def _row(item: _Item, index: Index) -> Row:
    one, written = item.record.standing, item.written
    name = f"{one.namespace}/{written.name}"
    prefix = "" if written.kind == "Secret" else f"{written.kind} "
    users = _users(item, index)
    return Row(
        key=f"{one.kind} {one.name} {written.kind} {name}",
        title=f"{written.kind} {name}",
        tone=tone_of(item.record),
        cells=(
            Cell(f"{prefix}{name}"),
            _freshness(item),
            Cell(", ".join(written.sources)),
            Cell(
                names(dict.fromkeys(user.workload for user in users), _NAMED)
                or "no workload that you may list"
            ),
        ),
        details=tuple(_details(item, users)),
    )


def _freshness(item: _Item) -> Cell:
    one = item.record.standing
    if one.health is not Health.CURRENT:
        return Cell("not in step since", item.record.since)
    # A certificate in step is one that was issued, however long ago.
    return Cell("in step, checked", one.last_sync) if one.kind == "SecretSync" else Cell("in step")


def _details(item: _Item, users: list[User]) -> Iterator[Detail]:
    one, written = item.record.standing, item.written
    yield Detail("Written by", f"{one.kind} {one.namespace}/{one.name}: {one.reason}")
    for source in written.sources:
        yield Detail("From", source)
    if written.updates:
        told = "at once, by events" if written.updates == "Events" else "when the source is compared"
        yield Detail("Changes arrive", told)
    yield Detail("Known to be in step", "" if one.last_sync else "never yet", one.last_sync)
    if written.changed is not None:
        yield Detail("A value changed", at=written.changed)
    if one.next_sync or one.next_hint:
        yield Detail("Next look", one.next_hint, one.next_sync)
    yield from used_by(users)


def used_by(users: Sequence[User]) -> Iterator[Detail]:
    """Return the lines of a row that name workloads, so many as are read."""
    for user in islice(users, _LISTED):
        yield Detail("Used by", f"{user.workload}: {user.how.value}")
    if len(users) > _LISTED:
        yield Detail("Used by", f"{len(users) - _LISTED} more workloads")
