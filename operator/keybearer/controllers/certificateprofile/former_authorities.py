"""Authorities that sign no more, but whose certificates others may still show: trusted until the last of these ends.

`ca.crt` holds who signed what the profile itself keeps; a trust bundle serves all to whom its certificates are shown,
those of pods as well, which nobody here has a list of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from keybearer.controllers.certificateprofile.setting import Setting
from keybearer.controllers.certificateprofile.status import AuthorityStatus, FormerAuthority
from keybearer.controllers.outcome import ReconcileError

__all__ = ["former_authorities", "last_end"]

_KEPT_MAX = 8


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
    return tuple(sorted(kept, key=lambda one: (one.until, one.key), reverse=True)[:_KEPT_MAX])


async def last_end(setting: Setting, now: datetime) -> datetime | None:
    """Return when the last certificate ends that was issued before the authority changed; None if nobody can tell."""
    scene = setting.scene
    previous = scene.previous
    if previous.profile is None or previous.profile.id != setting.profile.id:
        return None
    since = now if previous.wave is None else previous.wave.started_at
    try:
        ends = await scene.service.ends_of(setting.profile.id, issued_before=since)
    except ReconcileError:
        # Too long is harmless here, and what this round stored is to be noted in any case.
        return None
    return None if ends is None else max(ends, default=now)
