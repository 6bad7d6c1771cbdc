"""Keeps the right to clean up: of identities that made what is to be taken back, sessions stay open and tokens good.

With a namespace, an identity goes before what it made. What was logged in by then is used for cleaning up, and a
process that begins anew finds it among the kept tokens (decision 0039).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.cleanup_tokens import CleanupToken, CleanupTokens
from keybearer.controllers.finalizer import DEFAULT_DEADLINE, FINALIZER
from keybearer.controllers.objects import ObjectStore
from keybearer.controllers.outcome import ReconcileError, StalledError
from keybearer.kube.errors import ForbiddenError, KubeError, LeaseLostError
from keybearer.kube.resources import ObjectKey

__all__ = ["CleanupRights"]

_log = get_logger(__name__)

_EVERY = timedelta(seconds=2)
"""What changes within is one write."""
_RENEW_EVERY = timedelta(seconds=15)
_REST = timedelta(minutes=5)
"""Before an identity is tried again that a person must change something about."""
_AT_ONCE = 8
"""Logins and renewals under way."""


class CleanupRights:
    """Looks every few seconds at which identities have something to clean up."""

    def __init__(
        self, clock: Clock, objects: ObjectStore, access: ServiceAccess, tokens: CleanupTokens
    ) -> None:
        self._clock = clock
        self._objects = objects
        self._access = access
        self._tokens = tokens
        self._is_loaded = False
        self._trouble: KubeError | None = None
        self._needed: frozenset[ObjectKey] = frozenset()
        self._changes_seen = 0
        self._resting: dict[ObjectKey, float] = {}
        self._inherited: set[CleanupToken] = set()
        self._unclaimed_until = 0.0

    def sessions_in_use(self) -> set[str]:
        """Return the ids of the sessions by which something is to be cleaned up."""
        return self._access.sessions_of(self._needed)

    async def hand_on(self) -> set[str]:
        """Keep what is to outlive this process, and return the ids of the sessions whose tokens are kept.

        Whoever leads next needs them; where another leads already, they are what was kept last.
        """
        with suppress(LeaseLostError):
            await self._look()
        return self._access.sessions_of(self._tokens)

    async def run(self, started: asyncio.Event) -> None:
        """Keep tokens until cancelled.

        Args:
            started: set once those that an earlier process kept are known, or can't be had.

        Raises:
            LeaseLostError: another replica leads.
        """
        while True:
            await self._look()
            started.set()
            await asyncio.sleep(_EVERY.total_seconds())

    async def renew(self) -> None:
        """Have a good token of each identity that needs one, and revoke those that were replaced, until cancelled."""
        turns = asyncio.Semaphore(_AT_ONCE)
        while True:
            await asyncio.sleep(_RENEW_EVERY.total_seconds())
            self._resting = {one: until for one, until in self._resting.items() if one in self._needed}
            left = self._inherited.difference(map(self._tokens.get, self._tokens))
            self._inherited -= left
            async with asyncio.TaskGroup() as group:
                for identity in self._needed:
                    group.create_task(self._renew(identity, turns), name="renew a token")
                for token in left:
                    group.create_task(self._revoke(token, turns), name="revoke a token")

    async def _renew(self, identity: ObjectKey, turns: asyncio.Semaphore) -> None:
        async with turns:
            if self._clock.monotonic() < self._resting.get(identity, 0.0):
                return
            try:
                await self._access.renew_token(identity)
            except (ReconcileError, KubeError) as error:
                # What stands against it is told by the objects that need it.
                _log.debug("cleanup_token_not_renewed", identity=str(identity), error=str(error))
                if isinstance(error, StalledError):
                    self._resting[identity] = self._clock.monotonic() + _REST.total_seconds()

    async def _revoke(self, token: CleanupToken, turns: asyncio.Semaphore) -> None:
        async with turns:
            await self._access.revoke(token)

    async def _look(self) -> None:
        # This is asked every two seconds, and at rest no object changes for minutes.
        if self._objects.changes != self._changes_seen:
            self._changes_seen = self._objects.changes
            self._needed = frozenset(
                ObjectKey(one.key.namespace, one.identity)
                for one in self._objects
                if one.identity and FINALIZER in one.finalizers
            )
        if isinstance(self._trouble, ForbiddenError):
            return
        try:
            if not self._is_loaded:
                await self._load()
            if self._clock.monotonic() > self._unclaimed_until:
                self._tokens.unclaimed.clear()
            self._tokens.unclaimed -= self._needed
            await self._tokens.keep(self._good_tokens())
        except LeaseLostError:
            raise
        except KubeError as error:
            if str(error) != str(self._trouble):
                _log.warning("cleanup_tokens_not_kept", error=str(error))
            self._trouble = error
            return
        self._trouble = None

    async def _load(self) -> None:
        await self._tokens.load()
        self._is_loaded = True
        # The watches show objects one after the other: what none needs yet may be needed in a moment.
        self._unclaimed_until = self._clock.monotonic() + DEFAULT_DEADLINE.total_seconds()
        found = map(self._tokens.get, self._tokens)
        self._inherited = {token for token in found if token is not None and token.granted}

    def _good_tokens(self) -> Mapping[ObjectKey, CleanupToken]:
        """Return the newest token of each identity that needs one, unless it has run out."""
        now = self._clock.now()
        good: dict[ObjectKey, CleanupToken] = {}
        for identity in self._needed | self._tokens.unclaimed:
            kept, newest = self._tokens.get(identity), self._access.cleanup_token(identity)
            # Clocks drift apart, and the end of a token with them: that is no news.
            token = newest if newest is not None and newest != kept else kept
            if token is not None and (token.ends_at is None or token.ends_at > now):
                good[identity] = token
        return good
