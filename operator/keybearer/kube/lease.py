"""One writer at a time: takes, renews and releases a coordination.k8s.io/v1 Lease."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.kube.errors import AlreadyExistsError, ConflictError, KubeError, LeaseLostError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.lease_state import Election, LeaseClaim, LeaseRecord, Standing
from keybearer.kube.resources import LEASES

__all__ = ["LeaseKeeper"]

_RELEASE_SECONDS = 3.0
_RETRY_JITTER = 0.2
_TAKING_JITTER_SECONDS = 0.05
"""Spreads those that wait for one Lease to run out; it comes on top, for before that instant nobody may take it."""
_SHORTEST_SECONDS = 0.2
"""Between two attempts to renew, however little time is left."""
_REFUSALS_BORNE_SECONDS = 60.0
"""An API server that has just begun refuses for a moment what it is about to allow: it has not read the rules yet."""

_log = get_logger(__name__)


class LeaseKeeper:
    """Keeps one claim on one Lease.

    Args:
        gateway: one of its own, whose `may_write` always agrees: renewals must not wait behind other writes.
        claim: who wants which Lease.
        clock: its boottime decides.
        rng: spreads the attempts of several claimants.
        sleep: waits between attempts.
    """

    def __init__(
        self,
        gateway: Gateway,
        claim: LeaseClaim,
        *,
        clock: Clock,
        rng: random.Random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._gateway = gateway
        self._claim = claim
        self._clock = clock
        self._rng = rng
        self._sleep = sleep
        self._election = Election(claim)
        self._was_let_in = False
        self._refused_since: float | None = None

    @property
    def is_held(self) -> bool:
        """Return whether we may write now."""
        return self._clock.boottime() < self._election.may_write_until

    def check(self) -> None:
        """Return when we may write now; the `may_write` of gateways for everything else.

        Raises:
            LeaseLostError: the Lease was never ours, is released or lost, or was not renewed in time.
        """
        if not self.is_held:
            raise LeaseLostError(f"Lease {self._claim.key} is not ours now, so nothing is written")

    async def acquire(self) -> None:
        """Return when the Lease is ours, however long others hold it.

        Raises:
            KubeError: one that no later attempt can change, such as ForbiddenError; after a minute of it, where
                attempts were let in before.
        """
        try:
            while not await self._attempt():
                await self._sleep(self._wait_for_another())
        except asyncio.CancelledError:
            await self._release()  # the attempt that was cut off may have been accepted
            raise
        _log.info("lease_acquired", lease=str(self._claim.key), identity=self._claim.identity)

    async def hold(self) -> None:
        """Renew the Lease for as long as that succeeds; when cancelled, release it and end.

        Raises:
            LeaseLostError: another holds it, or it could not be renewed in time.
        """
        try:
            while True:
                await self._sleep(self._wait_to_renew())
                await self._renew()
        except asyncio.CancelledError:
            await self._release()
            raise

    async def _renew(self) -> None:
        left = self._election.may_write_until - self._clock.boottime()
        # Not all that is left: an answer that never comes must leave room for a second attempt.
        longest = self._claim.terms.renew_deadline.total_seconds() / 3
        renewed = False
        try:
            async with asyncio.timeout(max(min(left, longest), 0)):
                renewed = await self._attempt()
        except TimeoutError:
            _log.warning("lease_attempt_failed", lease=str(self._claim.key), error="no answer in time")
        if not renewed:
            self.check()  # a failed attempt may be followed by another, until the deadline

    async def _attempt(self) -> bool:
        """Try once to take or renew the Lease; return whether that was accepted."""
        try:
            won = await self._read_and_write()
        except KubeError as error:
            if not error.is_retryable and not self.is_held and not self._may_pass():
                raise
            if error.is_retryable:
                self._refused_since = None
            _log.warning("lease_attempt_failed", lease=str(self._claim.key), error=str(error))
            return False
        self._was_let_in, self._refused_since = True, None
        return won

    async def _read_and_write(self) -> bool:
        if not self.is_held and await self._read() is Standing.TAKEN:
            return False
        if await self._write():
            return True
        await self._read()  # it is not as we knew it: is it still ours to renew?
        return False

    def _may_pass(self) -> bool:
        """Note a refusal; return whether it may be one of an API server that has just begun."""
        now = self._clock.boottime()
        if self._refused_since is None:
            self._refused_since = now
        return self._was_let_in and now - self._refused_since < _REFUSALS_BORNE_SECONDS

    async def _read(self) -> Standing:
        lease = await self._gateway.get(LEASES, self._claim.key)
        record = LeaseRecord.from_object(lease) if lease is not None else None
        return self._election.observe(record, self._clock.boottime())

    async def _write(self) -> bool:
        """Write our claim over the state that was last seen; return False when it has another by now."""
        began = self._clock.boottime()
        spec = self._election.claim_spec(self._clock.now())
        seen = self._election.seen
        try:
            if seen is None:
                stored = await self._gateway.create(LEASES, self._claim.key, {"spec": spec})
            else:
                stored = await self._gateway.merge_patch(
                    LEASES, self._claim.key, {"spec": spec}, resource_version=seen.resource_version
                )
        except (AlreadyExistsError, ConflictError):
            return False
        except NotFoundError:
            if seen is None:
                raise  # not the Lease is missing, but its namespace
            return False
        self._election.won(LeaseRecord.from_object({**stored, "spec": spec}), began)
        return True

    async def _release(self) -> None:
        self._election.resign()
        try:
            async with asyncio.timeout(_RELEASE_SECONDS):
                if await self._read() is not Standing.OURS or self._election.seen is None:
                    return
                await self._gateway.merge_patch(
                    LEASES,
                    self._claim.key,
                    {"spec": self._election.release_spec(self._clock.now())},
                    resource_version=self._election.seen.resource_version,
                )
        except (KubeError, TimeoutError) as error:
            # The others then wait for its duration instead.
            _log.warning("lease_not_released", lease=str(self._claim.key), error=str(error) or "timed out")
        else:
            _log.info("lease_released", lease=str(self._claim.key), identity=self._claim.identity)

    def _wait_for_another(self) -> float:
        """Return the seconds until the next attempt to take it: no longer than until the instant that it may be."""
        left = self._election.free_at - self._clock.boottime()
        taking = left + _TAKING_JITTER_SECONDS * (1 + self._rng.random())
        return min(self._usual(), taking) if left > 0 else self._usual()

    def _wait_to_renew(self) -> float:
        """Return the seconds until the next renewal: less, when some have failed, so that there is time for more."""
        left = self._election.may_write_until - self._clock.boottime()
        return min(self._usual(), max(left / 3, _SHORTEST_SECONDS))

    def _usual(self) -> float:
        return self._claim.terms.retry.total_seconds() * (1 + _RETRY_JITTER * self._rng.random())
