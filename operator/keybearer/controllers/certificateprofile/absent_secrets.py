"""Which Secrets of a namespace are not there: one list of names tells it of many, for one profile or for many."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from keybearer.base.clock import Clock
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.target.apply import TargetWriter

__all__ = ["AbsentSecrets"]

_LISTED_FROM = 8
"""Secrets that cost less to look for by one list of names than one by one."""
_LISTED_MAX = 500
"""Secrets of a namespace beyond which its list costs more."""
_LATELY_SECONDS = 5.0
"""How long a list counts, as within a round; and what is looked for within such a time counts together."""


@dataclass(slots=True)
class _Lately:
    """What was looked for in a namespace of late.

    Attributes:
        began_at: since when what was looked for is counted.
        one_by_one: how many Secrets no list told of since then.
        listed_at: when the last list began.
        names: that it has; None: too many.
    """

    began_at: float
    one_by_one: int = 0
    listed_at: float = float("-inf")
    names: frozenset[str] | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class AbsentSecrets:
    """Tells which Secrets are known not to be there, without a look at each."""

    def __init__(self, clock: Clock, writer: TargetWriter) -> None:
        self._clock = clock
        self._writer = writer
        self._lately: dict[str, _Lately] = {}

    async def among(self, keys: Collection[TargetKey], *, since: float) -> frozenset[TargetKey]:
        """Return which of these Secrets of one namespace were not there lately; of few, none may be known.

        Args:
            keys: the Secrets, none of which the watch shows.
            since: `Clock.monotonic` of what led here: a list that began before doesn't count.

        Raises:
            KubeError: the API server can't be asked.
        """
        if not keys:
            return frozenset()
        kind, namespace = next((one.kind, one.namespace) for one in keys)
        lately = self._of(namespace)
        async with lately.turn:
            now = self._clock.monotonic()
            if lately.listed_at <= max(since, now - _LATELY_SECONDS):
                if now - lately.began_at > _LATELY_SECONDS:
                    lately.began_at, lately.one_by_one = now, 0
                lately.one_by_one += len(keys)
                # A caller that waited since before the last list is one of many: more will follow.
                is_one_of_many = lately.listed_at > max(since, now - 2 * _LATELY_SECONDS)
                if lately.one_by_one < _LISTED_FROM and not is_one_of_many:
                    return frozenset()
                names = await self._writer.names_in(kind, namespace, fewer_than=_LISTED_MAX)
                lately.names, lately.listed_at, lately.one_by_one = names, now, 0
            names = lately.names
        return frozenset() if names is None else frozenset(key for key in keys if key.name not in names)

    def forget(self, namespace: str) -> None:
        """Believe the last list of that namespace no more."""
        self._lately.pop(namespace, None)

    def _of(self, namespace: str) -> _Lately:
        now = self._clock.monotonic()
        if namespace not in self._lately:
            # Names are kept for no longer than they count.
            over = now - 2 * _LATELY_SECONDS
            for name, one in list(self._lately.items()):
                if max(one.began_at, one.listed_at) < over and not one.turn.locked():
                    del self._lately[name]
            self._lately[namespace] = _Lately(now)
        return self._lately[namespace]
