"""Orders of which nobody knows what became of them: how long one may still reach the service."""

from __future__ import annotations

import math
from collections.abc import Hashable
from datetime import timedelta
from typing import Final

from keybearer.base.clock import Clock

__all__ = ["UNDER_WAY", "UnknownOrders"]

UNDER_WAY: Final = timedelta(seconds=30)
"""How long after a service has answered again an order that reached it before may still become a certificate: a
write waits there for its turn for 20 s (`Bounds.wait` of the store), and whoever sent it gave up after 10 s."""
_A_MOMENT: Final = timedelta(milliseconds=100)


class UnknownOrders:
    """Holds back a second order for as long as the first may arrive.

    The time counts from the first look that the service answers, and finds nothing: a service that was frozen, or cut
    off, takes up what had reached it when it goes on, however long that lasted.

    Orders are told apart by who they are for, and by a name among those of the same.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._settled_at: dict[Hashable, dict[str, float]] = {}

    def begun(self, whose: Hashable, name: str = "") -> None:
        """An order is about to be sent."""
        self._settled_at.setdefault(whose, {})[name] = math.inf

    def ended(self, whose: Hashable, name: str = "") -> None:
        """The service has answered it: it may be sent again at once."""
        self._settled_at.setdefault(whose, {})[name] = -math.inf

    def missed(self, whose: Hashable, name: str = "", *, inherited: bool) -> timedelta | None:
        """The service has just said that it knows of no order; return how long to wait before one is sent.

        Args:
            whose: who it is for.
            name: which of theirs.
            inherited: a process before this one may have sent one.
        """
        now = self._clock.monotonic()
        known = self._settled_at.setdefault(whose, {})
        settled_at = known.get(name, math.inf if inherited else -math.inf)
        if settled_at == math.inf:
            settled_at = known[name] = now + UNDER_WAY.total_seconds()
        return timedelta(seconds=settled_at - now) + _A_MOMENT if settled_at > now else None

    def found(self, whose: Hashable, name: str = "") -> None:
        """The service knows it, and will: nothing has to be remembered of it."""
        self._settled_at.get(whose, {}).pop(name, None)

    def forget(self, whose: Hashable) -> None:
        """All of theirs have their answers, or are gone."""
        self._settled_at.pop(whose, None)
