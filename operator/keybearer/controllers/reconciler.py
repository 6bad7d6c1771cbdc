"""One run for one object, the same for all kinds: read, decide the request, run, catch, write one status, clean up.

Every step may be cut off between any two lines and run again from the top: nothing is remembered but what the API
server holds. The kinds differ in their hooks only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

import orjson

from keybearer.base.clock import Clock
from keybearer.base.json_reading import mapping_of
from keybearer.base.logs import get_logger
from keybearer.controllers.conditions import Tone, last_reason
from keybearer.controllers.custom_resource import Diagnosis, SpecModel, StatusModel
from keybearer.controllers.faults import report_fault
from keybearer.controllers.finalizer import DEFAULT_DEADLINE, FINALIZER, FinalizerKeeper
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError, Outcome, ReconcileError, StalledError
from keybearer.controllers.reading import latest_status, read_spec, read_spec_in_part, read_status
from keybearer.controllers.remedy import AS_THE_MESSAGE_SAYS, Remedy, diagnosed
from keybearer.controllers.requests import PendingRequest, pending_request
from keybearer.controllers.run_ends import Failure, failure_of
from keybearer.controllers.status_patch import StatusPatch
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.work import Lane, WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import KubeError, LeaseLostError
from keybearer.kube.gateway import Gateway

__all__ = ["Kind", "KindReconciler", "Leftover", "Unfinished"]

_log = get_logger(__name__)

_SpecT = TypeVar("_SpecT", bound=SpecModel)
_StatusT = TypeVar("_StatusT", bound=StatusModel)
_OutcomeT = TypeVar("_OutcomeT", bound=Outcome)

_INTERNAL_ERROR = "InternalError"


@dataclass(frozen=True, slots=True)
class Kind(Generic[_SpecT, _StatusT, _OutcomeT]):
    """What distinguishes a kind, as far as it is no behaviour.

    Attributes:
        spec: model of its spec.
        status: model of its status.
        outcome: how a run of it ends.
        requests: what a person may ask of it.
        remedies: what is to be done about each reason, where the place that found the failure doesn't say more.
        as_a_matter_of_course: reasons of ends that are neither good nor worth a warning.
    """

    spec: type[_SpecT]
    status: type[_StatusT]
    outcome: type[_OutcomeT]
    requests: frozenset[str]
    remedies: Mapping[str, Remedy]
    as_a_matter_of_course: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Unfinished(Generic[_OutcomeT]):
    """What an object left is still being taken back.

    Attributes:
        outcome: what the status says of it.
        again: when to look again; None after the backoff.
        why: why it is left behind, should the deadline have passed; None for what the status says.
    """

    outcome: _OutcomeT
    again: timedelta | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Leftover(Generic[_OutcomeT]):
    """Something that an object that is being deleted may have left.

    Attributes:
        what: it, for people.
        take_back: takes it back; returns None once nothing of it is left. What it raises is waited for until the
            deadline of the deletion.
    """

    what: str
    take_back: Callable[[], Awaitable[Unfinished[_OutcomeT] | None]]


class KindReconciler(ABC, Generic[_SpecT, _StatusT, _OutcomeT]):
    """Reconciles the objects of one kind; a subclass says what that means."""

    def __init__(
        self,
        kind: Kind[_SpecT, _StatusT, _OutcomeT],
        *,
        clock: Clock,
        gateway: Gateway,
        objects: ObjectStore,
        telemetry: Telemetry,
    ) -> None:
        self._kind = kind
        self._clock = clock
        self._objects = objects
        self._telemetry = telemetry
        self._finalizer = FinalizerKeeper(clock, gateway)
        self._patch = StatusPatch(gateway, objects, self._finalizer)

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once.

        Raises:
            LeaseLostError: another replica leads; nothing more may be written.
        """
        seen = self._objects.get(item.key)
        if seen is None:
            return RunResult()
        try:
            return await self._reconcile_seen(seen, item.lane, reconcile_id)
        except ObjectGoneError:
            self._objects.end(seen.key, seen.uid)
            return RunResult()
        except LeaseLostError:
            raise
        except KubeError as error:
            # The status itself could not be written: nothing but the log and the queue can say so.
            _log.warning("status_write_failed", error=str(error), reconcile_id=reconcile_id)
            return RunResult(failed=True)
        finally:
            if self._objects.get(item.key) is None:
                # It went while it was worked on, and may have subscribed anew since it was forgotten.
                self.forget(item.key)

    def forget(self, key: WorkKey) -> None:
        """Forget all that is kept of an object that is gone."""

    # Hooks: what a run does

    @abstractmethod
    async def _bring_about(
        self, seen: ObservedObject, spec: _SpecT, previous: _StatusT, request: PendingRequest | None
    ) -> tuple[_OutcomeT, RunResult]:
        """Bring about what the spec says, and return how that ended.

        Raises:
            ReconcileError: something foreseen stands against it.
            ObjectGoneError: the object was deleted meanwhile.
            KubeError: the API server refuses or can't be asked.
        """

    @abstractmethod
    def _status_after(
        self, seen: ObservedObject, previous: _StatusT, outcome: _OutcomeT, now: datetime
    ) -> _StatusT:
        """Return the whole status that an outcome leads to."""

    def _broke_off(
        self,
        error: ReconcileError | KubeError,
        seen: ObservedObject,
        spec: _SpecT | None,
        previous: _StatusT,
    ) -> tuple[_OutcomeT, RunResult]:
        """Return how a run ended that this error broke off; without a spec, that one could not be read."""
        del seen, spec, previous
        failure = failure_of(error)
        return self._told(failure), failure.result

    def _why_refused(self, request: PendingRequest, spec: _SpecT) -> str | None:
        """Return why what is asked isn't done, for people; None where nothing stands against it."""
        del request, spec
        return None

    def _is_answered(self, request: PendingRequest, outcome: _OutcomeT, result: RunResult) -> bool:
        """Tell whether a run answers a request; a refusal is an answer, too."""
        del request, outcome, result
        return True

    def _may_wait(self, lane: Lane, previous: _StatusT, outcome: _OutcomeT, result: RunResult) -> bool:
        """Tell whether the status may be written by a later run, which would find all of it again."""
        del lane, previous, outcome, result
        return False

    def _is_worth_a_write(self, status: _StatusT, previous: _StatusT) -> bool:
        """Tell whether a status says something new."""
        return status != previous

    def _wrote(self, key: WorkKey) -> None:
        """Take note that a status was written."""

    # Hooks: what the end of an object does

    @abstractmethod
    def _leftovers(
        self, seen: ObservedObject, spec: _SpecT, previous: _StatusT
    ) -> Sequence[Leftover[_OutcomeT]]:
        """Return what the object may have left, in the order in which it is taken back.

        Args:
            seen: the object, which is being deleted.
            spec: its spec, as far as it can be read.
            previous: its status.
        """

    def _needed_to_clean_up(self, previous: _StatusT) -> Collection[str]:
        """Return the fields of the spec that must not be guessed."""
        del previous
        return ()

    @abstractmethod
    def _what_it_left(self, seen: ObservedObject, previous: _StatusT) -> str:
        """Return what stays in the service if nothing can be taken back, for people."""

    # The run

    async def _reconcile_seen(self, seen: ObservedObject, lane: Lane, reconcile_id: str) -> RunResult:
        previous = read_status(seen, self._kind.status)
        if seen.deletion_timestamp is not None:
            return await self._clean_up(seen, previous, reconcile_id)
        request = pending_request(seen, previous.last_handled_requested_at)
        if request is not None and request.kind not in self._kind.requests:
            self._telemetry.request_unknown(seen, request, self._kind.requests)
            request = request.as_sync()
        outcome, result = await self._run(seen, previous, request, reconcile_id)
        if request is not None:
            if self._is_answered(request, outcome, result):
                outcome = replace(outcome, handled=request.requested_at)
        elif self._may_wait(lane, previous, outcome, result):
            return RunResult(requeue_after=timedelta())
        await self._write(seen, latest_status(self._objects, seen, previous), outcome)
        return result

    async def _run(
        self, seen: ObservedObject, previous: _StatusT, request: PendingRequest | None, reconcile_id: str
    ) -> tuple[_OutcomeT, RunResult]:
        spec: _SpecT | None = None
        try:
            spec = read_spec(seen, self._kind.spec)
            if request is not None and (why := self._why_refused(request, spec)) is not None:
                self._telemetry.request_refused(seen, request, why)
                request = request.as_sync()
            return await self._bring_about(seen, spec, previous, request)
        except (ObjectGoneError, LeaseLostError):
            raise
        except (ReconcileError, KubeError) as error:
            return self._broke_off(error, seen, spec, previous)
        except Exception as error:  # noqa: BLE001 - a fault in one object must not end the work on the others
            return self._told(self._fault(error, seen, previous, reconcile_id)), RunResult(failed=True)

    async def _write(self, seen: ObservedObject, previous: _StatusT, outcome: _OutcomeT) -> None:
        status = self._status_after(seen, previous, outcome, self._clock.now())
        diagnosis = self._diagnosis(seen, outcome)
        if diagnosis != status.diagnosis:
            status = status.model_copy(update={"diagnosis": diagnosis})
        is_fine = outcome.tone in (Tone.READY, Tone.PAUSED)
        self._telemetry.outcome(
            seen,
            outcome.reason,
            outcome.message,
            was=last_reason(previous.conditions),
            fine=is_fine or outcome.reason in self._kind.as_a_matter_of_course,
            conditions=status.conditions,
        )
        if self._is_worth_a_write(status, previous):
            await self._patch.apply(seen, status.to_wire())
            self._wrote(seen.key)

    def _diagnosis(self, seen: ObservedObject, outcome: _OutcomeT) -> Diagnosis | None:
        if outcome.tone is Tone.READY:
            return None
        known = self._kind.remedies.get(outcome.reason, AS_THE_MESSAGE_SAYS)
        spec = mapping_of(orjson.loads(seen.spec_json))
        return diagnosed(outcome.remedy or known, seen.key.kind, seen.key.namespace, seen.key.name, spec)

    # The end of the object

    async def _clean_up(self, seen: ObservedObject, previous: _StatusT, reconcile_id: str) -> RunResult:
        if FINALIZER not in seen.finalizers:
            return RunResult()
        leftovers, deadline = self._to_take_back(seen, previous)
        for one in leftovers:
            unfinished = await self._take_back(one, seen, previous, reconcile_id)
            if unfinished is None:
                continue
            left = self._finalizer.time_left(seen, deadline)
            if left is None:
                self._telemetry.orphaned(seen, one.what, unfinished.why or unfinished.outcome.message)
                continue
            await self._write(seen, previous, unfinished.outcome)
            return RunResult(failed=unfinished.again is None, requeue_after=unfinished.again or left)
        await self._finalizer.set(seen, present=False)
        return RunResult()

    def _to_take_back(
        self, seen: ObservedObject, previous: _StatusT
    ) -> tuple[Sequence[Leftover[_OutcomeT]], timedelta]:
        """Return what the object may have left, and for how long its deletion waits for that to go."""
        try:
            spec = read_spec_in_part(seen, self._kind.spec, self._needed_to_clean_up(previous))
        except StalledError as error:
            unreadable = error

            async def refuse() -> None:
                raise unreadable

            return (Leftover(self._what_it_left(seen, previous), refuse),), DEFAULT_DEADLINE
        return self._leftovers(seen, spec, previous), spec.deletion_deadline

    async def _take_back(
        self, one: Leftover[_OutcomeT], seen: ObservedObject, previous: _StatusT, reconcile_id: str
    ) -> Unfinished[_OutcomeT] | None:
        # The identity may not be readable any more: that holds up the end until the deadline, not for ever.
        try:
            return await one.take_back()
        except (ObjectGoneError, LeaseLostError):
            raise
        except (ReconcileError, KubeError) as error:
            return Unfinished(self._told(replace(failure_of(error), tone=Tone.WAITING)), why=str(error))
        except Exception as error:  # noqa: BLE001 - nor must one in its end
            return Unfinished(self._told(self._fault(error, seen, previous, reconcile_id)))

    def _told(self, failure: Failure) -> _OutcomeT:
        return self._kind.outcome(failure.tone, failure.reason, failure.message, remedy=failure.remedy)

    @staticmethod
    def _fault(error: Exception, seen: ObservedObject, previous: StatusModel, reconcile_id: str) -> Failure:
        message = report_fault(error, seen.key, previous.conditions, reconcile_id)
        return Failure(Tone.WAITING, _INTERNAL_ERROR, message)
