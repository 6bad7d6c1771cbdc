"""Brings requests at ACME authorities on: as many as may, as soon as they are due, until told to stop.

A commit of this or another process says when there may be something to do, and a request that waits when it is due. A
request is claimed for as long as it is worked on; that of a process that died is free again when its lease ends, and
with SQLite, whose only process this is, at the start.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from keybearer.base.backoff import Backoff
from keybearer.base.certificate_terms import RequestStatus
from keybearer.base.clock import Clock
from keybearer.base.ids import new_uuid
from keybearer.base.logs import get_logger
from keybearer.destinations.remote import RemoteError
from keybearer.domain.certificates.acme_accounts import AcmeSessions
from keybearer.domain.certificates.acme_orders import AcmeOrders, LostRequestError, OrderState, held
from keybearer.domain.certificates.finishing import Finishing
from keybearer.domain.certificates.own_actor import service_actor
from keybearer.domain.errors import InvalidError
from keybearer.outbound.acme.errors import AcmeProblemError
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.database import Database
from keybearer.store.failures import BusyError, TooSlowError, UnavailableError
from keybearer.store.revisions import Changes
from keybearer.store.unit import UnitOfWork

__all__ = ["AcmeEngine"]

_AT_ONCE = 20
_PER_AUTHORITY = 5
"""Of one authority that hangs; the others keep their turns."""
_STEP = timedelta(seconds=45)
_LEASE = timedelta(seconds=60)
"""Longer than a step may take, with what is written at its end."""
_BACKOFF = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(minutes=10))
_WAIT_MIN = timedelta(seconds=1)
_WAIT_MAX = timedelta(hours=6)
_GIVEN_UP = timedelta(hours=24)
"""After which an authority that can't be reached, or never comes to an end, has had its time."""
_RENEWED_AGAIN = timedelta(hours=6)
"""Public authorities count failures: an hour would use them up."""
_ASKED_AGAIN = timedelta(minutes=1)
"""Leases of processes that died end without a word."""
_AWAY = timedelta(seconds=2)
_RNG = random.Random()  # noqa: S311 - jitter, not cryptography
_log = get_logger(__name__)


class AcmeEngine:
    """The requests of this process. `run` must be under way."""

    def __init__(
        self, database: Database, sessions: AcmeSessions, finishing: Finishing, clock: Clock
    ) -> None:
        self._database = database
        self._finishing = finishing
        self._clock = clock
        self._process_id = new_uuid()
        self._orders = AcmeOrders(database, sessions, finishing, clock, self._process_id)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._authorities: Counter[str] = Counter()
        self._woken = asyncio.Event()
        database.bus.subscribe(self._hear, self._woken.set)

    async def run(self) -> None:
        """Work on what is due until cancelled; what is cut off goes on after the next start."""
        has_taken_up = False
        async with asyncio.TaskGroup() as group:
            try:
                while True:
                    self._woken.clear()
                    wait = _AWAY
                    try:
                        if not has_taken_up:
                            await self._take_up()
                            has_taken_up = True
                        wait = await self._begin(group)
                    except Exception as error:  # noqa: BLE001 - whatever it is, requests must not wait for ever
                        _log.warning("certificate_orders_not_begun", kind=type(error).__name__)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(max(wait.total_seconds(), 0.05)):
                            await self._woken.wait()
            finally:
                for task in self._running.values():
                    task.cancel()

    def _hear(self, changes: Changes) -> None:
        if changes.orders:
            self._woken.set()

    async def _take_up(self) -> None:
        async with self._database.writing() as unit:
            if self._database.sole_process:
                await unit.certificate_request_claims.give_up()
            await unit.acme_challenges.drop_of_the_past()

    async def _begin(self, group: asyncio.TaskGroup) -> timedelta:
        """Begin what is due and has room; return how long nothing more can be due."""
        now = self._clock.now()
        while len(self._running) < _AT_ONCE:
            busy = [one for one, number in self._authorities.items() if number >= _PER_AUTHORITY]
            async with self._database.reading() as unit:
                if not await unit.certificate_request_claims.is_any_due(now, busy):
                    break
            async with self._database.writing() as unit:
                claimed = await unit.certificate_request_claims.claim(
                    self._process_id, now, now + _LEASE, 1, busy_authorities=busy
                )
            for request in claimed:
                if request.id in self._running:
                    continue  # its lease ended before its work, which it goes on with under a new one
                authority = request.authority_id or ""
                self._authorities[authority] += 1
                self._running[request.id] = group.create_task(
                    self._work(request, authority), name=f"order-certificate-{request.id}"
                )
            if not claimed:
                break
        async with self._database.reading() as unit:
            due_at = await unit.certificate_request_claims.next_due(now)
        return _ASKED_AGAIN if due_at is None else min(due_at - now, _ASKED_AGAIN)

    async def _work(self, request: CertificateRequest, authority: str) -> None:
        try:
            await self._bring_on(request)
        except asyncio.CancelledError:
            try:
                await asyncio.shield(self._put_back(request, _WAIT_MIN, attempt=request.attempt))
            except Exception as error:  # noqa: BLE001 - whichever process is next waits for the lease to end then
                _log.warning(
                    "certificate_order_not_put_back",
                    certificate_request_id=request.id,
                    kind=type(error).__name__,
                )
            raise
        except LostRequestError:
            _log.info("certificate_order_left_to_others", certificate_request_id=request.id)
        except Exception as error:  # noqa: BLE001 - its end couldn't be noted: it is claimed anew when the lease ends
            _log.warning(
                "certificate_order_not_noted", certificate_request_id=request.id, kind=type(error).__name__
            )
        finally:
            self._running.pop(request.id, None)
            self._authorities[authority] -= 1
            self._authorities += Counter()
            self._woken.set()

    async def _bring_on(self, request: CertificateRequest) -> None:
        try:
            async with asyncio.timeout(_STEP.total_seconds()):
                wait = await self._orders.advance(request)
        except InvalidError as refusal:
            await self._fail(request, refusal.message)
        except RemoteError as error:
            await self._meet(request, str(error), error)
        except TimeoutError as error:
            await self._meet(request, "the authority takes too long to answer", error)
        except (BusyError, TooSlowError, UnavailableError) as error:
            _log.warning("certificate_order_waits_for_the_database", kind=type(error).__name__)
            await self._put_back(request, _AWAY)
        except LostRequestError:
            raise
        except Exception as error:  # noqa: BLE001 - what nobody foresaw is tried again, and ends as all others do
            _log.error(
                "certificate_order_broke", certificate_request_id=request.id, kind=type(error).__name__
            )
            await self._meet(request, "something went wrong within the service; its log tells more", error)
        else:
            if wait is None:
                _log.info("certificate_ordered", certificate_request_id=request.id)
            elif self._is_over(request):
                await self._fail(request, await self._given_up(request, "it never came to an end"))
            else:
                await self._put_back(request, wait)

    async def _meet(self, request: CertificateRequest, text: str, error: Exception) -> None:
        """Try again later what may work later; end the rest."""
        name = await self._name_of(request)
        is_final = isinstance(error, RemoteError) and not error.is_retryable
        _log.warning(
            "certificate_order_failed",
            certificate_request_id=request.id,
            attempt=request.attempt + 1,
            kind=type(error).__name__,
            retried=not is_final,
        )
        if is_final:
            await self._fail(request, f"Certificate authority {name}: {text}")
        elif self._is_over(request):
            await self._fail(request, await self._given_up(request, text))
        else:
            asked = error.wait if isinstance(error, AcmeProblemError) else None
            wait = _BACKOFF.delay(request.attempt + 1, _RNG)
            message = f"Certificate authority {name}: {text}; it is asked again by itself"
            await self._put_back(
                request, max(wait, asked or wait), attempt=request.attempt + 1, message=message
            )

    def _is_over(self, request: CertificateRequest) -> bool:
        now = self._clock.now()
        return now - OrderState.of(request, now).started_at > _GIVEN_UP

    async def _given_up(self, request: CertificateRequest, text: str) -> str:
        hours = _GIVEN_UP // timedelta(hours=1)
        return f"Certificate authority {await self._name_of(request)}: given up after {hours} hours: {text}"

    async def _name_of(self, request: CertificateRequest) -> str:
        if request.authority_id is None:
            return "that is gone"
        async with self._database.reading() as unit:
            found = await unit.certificate_authorities.get(request.authority_id)
        return "that is gone" if found is None else found.name

    async def _put_back(
        self,
        request: CertificateRequest,
        wait: timedelta,
        *,
        attempt: int = 0,
        message: str | None = None,
    ) -> None:
        now = self._clock.now()
        async with self._database.writing() as unit:
            found = await held(unit, request.id, self._process_id)
            await unit.certificate_requests.update(
                replace(
                    found,
                    order_state=OrderState.of(found, now).written(),
                    pending_message=message or found.pending_message,
                    attempt=attempt,
                    due_at=now + min(max(wait, _WAIT_MIN), _WAIT_MAX),
                    claimed_by=None,
                    lease_ends_at=None,
                    updated_at=now if message is not None else found.updated_at,
                )
            )

    async def _fail(self, request: CertificateRequest, message: str) -> None:
        async with self._database.writing() as unit:
            found = await held(unit, request.id, self._process_id)
            actor = await service_actor(unit, found.project_id)
            failed = await self._finishing.fail(unit, found, message, actor)
            await unit.acme_challenges.drop(found.id)
            await self._renew_later(unit, failed)
        _log.warning(
            "certificate_request_failed", certificate_request_id=request.id, status=RequestStatus.FAILED.value
        )

    async def _renew_later(self, unit: UnitOfWork, failed: CertificateRequest) -> None:
        """Have what the service renews by itself renewed at another try."""
        if failed.renews_id is None or failed.requested_by is not None:
            return
        found = await unit.certificates.get(failed.renews_id, for_change=True)
        if found is None or found.is_revoked or found.renewed_by_id is not None:
            return
        await unit.certificates.update(replace(found, renew_at=self._clock.now() + _RENEWED_AGAIN))
