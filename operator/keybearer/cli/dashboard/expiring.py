"""Which certificates end or renew within 30 days, and which are in trouble. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from keybearer.cli.dashboard.record import Certificate, Record
from keybearer.cli.dashboard.view import Cell, Detail, Query, Row, Tone, View, more_about, paged
from keybearer.cli.dashboard.written import Index, used_by

__all__ = ["SOON", "expiring_certificates"]

SOON = timedelta(days=30)
_NEVER = datetime.max.replace(tzinfo=UTC)


class _Item(NamedTuple):
    record: Record
    certificate: Certificate

    @property
    def due(self) -> datetime:
        """When something is due: its renewal or its end."""
        known = (self.certificate.renewal, self.certificate.not_after)
        return min((one for one in known if one is not None), default=_NEVER)

    @property
    def is_troubled(self) -> bool:
        """Whether it isn't as it should be."""
        one = self.certificate
        return bool(one.reason) or one.revoked or one.not_after is None


def expiring_certificates(
    records: Iterable[Record], index: Index, query: Query, notes: tuple[str, ...], now: datetime
) -> View:
    """Return the certificates that end or renew within `SOON` of now, or are in trouble; the earliest first."""
    every = [_Item(record, one) for record in records for one in record.certificates]
    soon = [one for one in every if one.is_troubled or one.due <= now + SOON]
    found = [
        one
        for one in soon
        if query.finds(
            one.record.standing.namespace,
            one.record.standing.name,
            one.certificate.name,
            one.certificate.secret,
        )
    ]
    found.sort(
        key=lambda one: (not one.is_troubled, one.due, one.record.standing.namespace, one.certificate.name)
    )
    view = partial(
        View,
        name="certificates",
        heading="Certificates that end or renew within 30 days",
        summary=f"{len(soon):,} of {len(every):,} certificates. The others end and renew later.",
        columns=("Certificate", "Secret", "Renews", "Ends", "State"),
        notes=notes,
    )
    return paged(view, found, query, partial(_row, index=index, now=now))


def _state(item: _Item, now: datetime) -> tuple[Tone, str]:
    one = item.certificate
    if one.revoked:
        return Tone.BAD, "revoked"
    if one.not_after is not None and one.not_after <= now:
        return Tone.BAD, "ended"
    if one.reason:
        return Tone.BAD, one.reason
    if one.not_after is None:
        return Tone.WAITING, one.status or "not issued yet"
    if item.record.standing.is_suspended:
        return Tone.WAITING, "is not renewed: suspended"
    if one.renewal is None:
        return Tone.WAITING, "is not renewed"
    return Tone.GOOD, "renewed by Keybearer"


def _row(item: _Item, index: Index, now: datetime) -> Row:
    one, standing = item.certificate, item.record.standing
    tone, state = _state(item, now)
    name = f"{standing.namespace}/{standing.name}: {one.name}"
    return Row(
        key=name,
        title=f"Certificate {name}",
        tone=tone,
        cells=(
            Cell(name),
            Cell(one.secret),
            Cell("" if one.renewal else "-", one.renewal),
            Cell("" if one.not_after else "-", one.not_after),
            Cell(state),
        ),
        details=tuple(_details(item, index)),
    )


def _details(item: _Item, index: Index) -> Iterator[Detail]:
    one, standing = item.certificate, item.record.standing
    yield Detail("Profile", f"CertificateProfile {standing.namespace}/{standing.name}: {standing.reason}")
    if one.message:
        yield Detail("Message", one.message)
    if one.serial:
        yield Detail("Serial number", one.serial)
    if one.next_attempt is not None:
        yield Detail("Next attempt", at=one.next_attempt)
    yield from used_by(index.get((standing.namespace, "Secret", one.secret), []))
    yield more_about(standing.kind, standing.namespace, standing.name)
