"""Tokens that remotes give for credentials, kept while they hold: many syncs share one connection."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from weakref import WeakValueDictionary

from keybearer.base.clock import Clock
from keybearer.destinations.app import Issued

__all__ = ["ShortLived"]

_KEPT_MAX = 1000
_MARGIN = timedelta(minutes=1)
"""A token that expires sooner is not used: it might expire before the request arrives."""


class ShortLived:
    """In memory only. A key holds a digest of the credentials: changed credentials get a new token."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._issued: OrderedDict[tuple[str, ...], Issued] = OrderedDict()
        self._turns: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()

    async def get(self, key: tuple[str, ...], issue: Callable[[], Awaitable[Issued]]) -> Mapping[str, str]:
        """Return what is kept under the key, or what `issue` gets, which runs once for all who wait for it."""
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:
            kept = self._issued.get(key)
            if kept is None or kept.ends_at - self._clock.now() < _MARGIN:
                kept = self._issued[key] = await issue()
            self._issued.move_to_end(key)
            while len(self._issued) > _KEPT_MAX:
                self._issued.popitem(last=False)
            return kept.parts

    def forget(self, key: tuple[str, ...]) -> None:
        """Drop what is kept under the key: the remote doesn't take it any more."""
        self._issued.pop(key, None)
