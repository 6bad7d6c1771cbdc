"""The certificates of authorities as the service shows them: asked for once for all profiles that one signs for."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.gate import Authority, read_authority
from keybearer.controllers.issuance.service import CertificateService

__all__ = ["AuthorityChains"]

_FRESH = timedelta(seconds=30)
"""How long an answer is shared: for as long as profiles that begin together take, and no longer, as another key of
the authority is to be noticed with the next comparison of a profile."""
_KEPT_MAX = 256


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
        if len(self._kept) > _KEPT_MAX:
            self._kept.popitem(last=False)
        # One asks, the others wait for the answer; each waits for no longer than its own run may take.
        async with kept.turn:
            if afresh or kept.authority is None or self._clock.monotonic() >= kept.until:
                kept.authority = read_authority(await service.authority_chain(ca_id))
                kept.until = self._clock.monotonic() + _FRESH.total_seconds()
            return kept.authority
