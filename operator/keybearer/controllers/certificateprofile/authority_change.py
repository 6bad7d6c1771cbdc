"""How certificates follow an authority that has another key. Pure.

First every Secret's `ca.crt` holds the old authority and the new one, so that whoever trusts them trusts both. Only
then, at a bounded rate, certificates are issued anew. When no certificate of the old authority is left, it goes from
`ca.crt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from keybearer.controllers.certificateprofile.status import AuthorityStatus, Wave
from keybearer.controllers.issuance.timing import spread

__all__ = ["ANNOUNCED", "Rolling", "plan_wave", "trusted"]

ANNOUNCED = timedelta(minutes=1)
"""Between `ca.crt` with both authorities and the first certificate of the new one: readers take files in with delay
(a kubelet brings a mounted Secret within its sync period of a minute)."""

_AT_ONCE = 10
_AUTHORITIES_MAX = 8
_HOUR = timedelta(hours=1)


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
    return tuple([*first, *kept][:_AUTHORITIES_MAX])
