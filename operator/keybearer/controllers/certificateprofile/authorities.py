"""The authorities that sign: their chains, how certificates follow a new key, and which of them sign no more."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.context import RoundContext
from keybearer.controllers.certificateprofile.policy import Authority, read_authority
from keybearer.controllers.certificateprofile.status import (
    AUTHORITIES_MAX,
    AuthorityStatus,
    FormerAuthority,
    Wave,
)
from keybearer.controllers.issuance.service import CertificateService
from keybearer.controllers.issuance.timing import spread
from keybearer.controllers.outcome import ReconcileError

__all__ = [
    "ANNOUNCED",
    "AuthorityChains",
    "Rolling",
    "former_authorities",
    "last_end",
    "plan_wave",
    "trusted",
]

_FRESH = timedelta(seconds=30)
"""How long an answer is shared: for as long as profiles that begin together take, and no longer, as another key of
the authority is to be noticed with the next comparison of a profile."""
_CHAINS_MAX = 256
ANNOUNCED = timedelta(minutes=1)
"""Between `ca.crt` with both authorities and the first certificate of the new one: readers take files in with delay
(a kubelet brings a mounted Secret within its sync period of a minute)."""
_AT_ONCE = 10
_HOUR = timedelta(hours=1)


@dataclass(slots=True)
class _Kept:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    authority: Authority | None = None
    until: float = 0.0


class AuthorityChains:
    """Remembers for a while who signs, by the session that sees it and the id of the authority."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    async def authority(
        self, service: CertificateService, session_id: str, ca_id: str, *, afresh: bool = False
    ) -> Authority | None:
        """Return the authority; None where it can't be seen.

        Args:
            service: is asked, unless another profile has just done so.
            session_id: whose word it is: what one identity sees is not shown to another.
            ca_id: of the authority.
            afresh: ask in any case.

        Raises:
            ReconcileError: the service can't be asked.
        """
        kept = self._kept.setdefault((session_id, ca_id), _Kept())
        self._kept.move_to_end((session_id, ca_id))
        if len(self._kept) > _CHAINS_MAX:
            self._kept.popitem(last=False)
        # One asks, the others wait for the answer; each waits for no longer than its own run may take.
        async with kept.turn:
            if afresh or kept.authority is None or self._clock.monotonic() >= kept.until:
                kept.authority = read_authority(await service.authority_chain(ca_id))
                kept.until = self._clock.monotonic() + _FRESH.total_seconds()
            return kept.authority


@dataclass(frozen=True, slots=True)
class Rolling:
    """How far a wave is.

    Attributes:
        wave: as the status notes it; None where none is under way.
        names: certificates that may be asked for now.
        again_at: when the next ones may.
    """

    wave: Wave | None = None
    names: frozenset[str] = frozenset()
    again_at: datetime | None = None


def plan_wave(
    uid: str,
    authority: str | None,
    signed_by: Mapping[str, str | None],
    before: Wave | None,
    *,
    per_hour: int,
    now: datetime,
) -> Rolling:
    """Return which certificates may follow the authority now.

    Args:
        uid: of the CertificateProfile; gives the order.
        authority: digest of the key that the authority has; None where it isn't known.
        signed_by: for each stored certificate that nothing is under way for, the digest of the key that signed it.
        before: the wave that the status notes.
        per_hour: how many may follow.
        now: the present.
    """
    late = [name for name, key in signed_by.items() if key is not None and key != authority]
    if authority is None or not late:
        return Rolling()
    if before is None or before.authority != authority:
        wave = Wave(authority=authority, started_at=now.replace(microsecond=0))
        return Rolling(wave, again_at=now + ANNOUNCED)
    pace = _HOUR / per_hour
    begins = before.started_at + ANNOUNCED
    since = begins - pace if before.rolled_at is None else before.rolled_at
    due = min(int((now - since) / pace), _AT_ONCE) if now >= begins else 0
    if due < 1:
        return Rolling(before, again_at=max(begins, since + pace))
    names = sorted(late, key=lambda name: spread(uid, name))[:due]
    rolled = before.model_copy(update={"rolled_at": now.replace(microsecond=0)})
    return Rolling(rolled, frozenset(names), now + pace)


def trusted(
    present: AuthorityStatus | None, before: Iterable[AuthorityStatus], in_use: Iterable[str | None]
) -> tuple[AuthorityStatus, ...]:
    """Return the authorities whose certificates `ca.crt` holds: the present one, and those of stored certificates.

    Args:
        present: as the service shows it now; None where that isn't known.
        before: those of the status.
        in_use: digests of the keys that signed stored certificates.
    """
    needed = {key for key in in_use if key is not None}
    kept = [one for one in before if one.key in needed and (present is None or one.key != present.key)]
    first = [] if present is None else [present]
    return tuple([*first, *kept][:AUTHORITIES_MAX])


def former_authorities(
    before: Iterable[FormerAuthority],
    dropped: Iterable[AuthorityStatus],
    present: Sequence[AuthorityStatus],
    last: datetime | None,
    now: datetime,
) -> tuple[FormerAuthority, ...]:
    """Return which authorities are still to be trusted though they sign no more. Pure.

    Args:
        before: those of the status.
        dropped: those that `ca.crt` holds no more from now on.
        present: those that it holds.
        last: when the last certificate ends that those which are dropped may have signed; None where nobody can tell,
            so that they are trusted until they end themselves.
        now: the present.
    """
    signing = {one.key for one in present}
    known = {one.anchors for one in present}
    found = {one.key: one for one in before}
    for one in dropped:
        ends = [end for end in (one.not_after, last) if end is not None]
        if ends and one.anchors not in known:
            found[one.key] = FormerAuthority(
                key=one.key, until=min(ends).replace(microsecond=0), anchors=one.anchors
            )
    kept = [one for one in found.values() if one.key not in signing and now < one.until]
    return tuple(sorted(kept, key=lambda one: (one.until, one.key), reverse=True)[:AUTHORITIES_MAX])


async def last_end(context: RoundContext, now: datetime) -> datetime | None:
    """Return when the last certificate ends that was issued before the authority changed; None if nobody can tell."""
    run = context.run
    previous = run.previous
    if previous.profile is None or previous.profile.id != context.profile.id:
        return None
    since = now if previous.wave is None else previous.wave.started_at
    try:
        ends = await run.service.ends_of(context.profile.id, issued_before=since)
    except ReconcileError:
        # Too long is harmless here, and what this round stored is to be noted in any case.
        return None
    return None if ends is None else max(ends, default=now)
