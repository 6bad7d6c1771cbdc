"""One run for one AppConnection: gather, plan, apply, and one write of its status.

Every step may be cut off between any two lines and run again from the top. What was created without a status to say
so is found by its mark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.controllers.appconnection.conclusion import Outcome, build_status, connected
from keybearer.controllers.appconnection.desired import build_connection, kind_of
from keybearer.controllers.appconnection.gather import ConnectionGatherer
from keybearer.controllers.appconnection.plan import (
    Applied,
    CreateConnection,
    UpdateConnection,
    plan_connection,
)
from keybearer.controllers.appconnection.reasons import Reason
from keybearer.controllers.appconnection.remote import RemoteConnections
from keybearer.controllers.appconnection.resource import AppConnectionSpec, RemoteDeletionPolicy
from keybearer.controllers.appconnection.status import AppConnectionStatus
from keybearer.controllers.catalogue import CatalogueOf
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.conditions import Tone
from keybearer.controllers.faults import report_fault
from keybearer.controllers.finalizer import DEFAULT_DEADLINE, FINALIZER, FinalizerKeeper
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError, ReconcileError
from keybearer.controllers.ownership import is_own, mark_of
from keybearer.controllers.reading import read_spec, read_spec_in_part, read_status
from keybearer.controllers.requests import pending_request
from keybearer.controllers.run_ends import end_run, failure_of
from keybearer.controllers.status_patch import StatusPatch
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.work import WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import KubeError, LeaseLostError
from keybearer.kube.gateway import Gateway
from keybearer.wire.vocabulary import canonical_app

__all__ = ["AppConnectionReconciler"]

_REFRESH = timedelta(minutes=5)
"""How often a connection is compared with what the service holds: rotations, and what others changed or deleted."""
_NEEDED_TO_DELETE = frozenset({"identity_ref", "on_delete"})
_NEEDED_TO_FIND = _NEEDED_TO_DELETE | {"app", "name", "project_id", "project_slug"}
"""What can't be guessed of a spec, for deleting the wrong connection would be worse than leaving one behind."""


class AppConnectionReconciler:
    """Brings a connection of the service to what its manifest says."""

    def __init__(  # noqa: PLR0913 - collaborators, given once where the process is wired
        self,
        *,
        clock: Clock,
        gateway: Gateway,
        objects: ObjectStore,
        gatherer: ConnectionGatherer,
        cluster: ClusterIdentity,
        catalogue: CatalogueOf,
        fingerprinter: Fingerprinter,
        telemetry: Telemetry,
        changed: Callable[[WorkKey], None],
    ) -> None:
        self._clock = clock
        self._objects = objects
        self._gatherer = gatherer
        self._cluster = cluster
        self._catalogue = catalogue
        self._fingerprinter = fingerprinter
        self._telemetry = telemetry
        self._changed = changed
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
        run = self._reconcile_seen(seen, reconcile_id)
        return await end_run(run, seen, reconcile_id, self._objects)

    async def _reconcile_seen(self, seen: ObservedObject, reconcile_id: str) -> RunResult:
        previous = read_status(seen, AppConnectionStatus)
        if seen.deletion_timestamp is not None:
            return await self._clean_up(seen, previous)
        request = pending_request(seen, previous.last_handled_requested_at)
        outcome, result = await self._run(seen, previous, reconcile_id)
        if request is not None:
            outcome = replace(outcome, handled=request.requested_at)
        await self._write(seen, previous, outcome)
        return result

    async def _run(
        self, seen: ObservedObject, previous: AppConnectionStatus, reconcile_id: str
    ) -> tuple[Outcome, RunResult]:
        try:
            outcome = await self._reconcile_spec(seen, read_spec(seen, AppConnectionSpec), previous)
        except (ObjectGoneError, LeaseLostError):
            raise
        except (ReconcileError, KubeError) as error:
            failure = failure_of(error)
            return Outcome(failure.tone, failure.reason, failure.message), failure.result
        except Exception as error:  # noqa: BLE001 - a fault in one object must not end the work on the others
            message = report_fault(error, seen.key, previous.conditions, reconcile_id)
            return Outcome(Tone.WAITING, Reason.INTERNAL_ERROR, message), RunResult(failed=True)
        return outcome, RunResult(requeue_after=_REFRESH)

    async def _reconcile_spec(
        self, seen: ObservedObject, spec: AppConnectionSpec, previous: AppConnectionStatus
    ) -> Outcome:
        self._gatherer.follow(seen.key, spec)
        kind = kind_of(spec, self._catalogue())
        credentials = await self._gatherer.credentials(seen.key, spec)
        session = await self._gatherer.session(seen.key, spec)
        desired = build_connection(
            seen,
            spec,
            kind,
            credentials,
            project_id=await self._gatherer.project_id(session, spec),
            cluster_id=await self._cluster.get(),
            fingerprinter=self._fingerprinter,
        )
        remote = RemoteConnections(session)
        present = await remote.find(
            previous.app or desired.app, desired.name, desired.project_id, previous.id
        )
        applied = Applied(previous.id, previous.fingerprint, previous.credentials_hash)
        action = plan_connection(desired, present, applied)
        # Before there is anything to clean up, so that no crash in between leaves it behind.
        await self._finalizer.set(seen, present=spec.on_delete is RemoteDeletionPolicy.DELETE)
        match action:
            case CreateConnection():
                present = await remote.create(desired)
            case UpdateConnection():
                present = await remote.update(action)
            case None:
                pass
        if present is None:
            raise TypeError(action)
        return connected(desired, present)

    async def _clean_up(self, seen: ObservedObject, previous: AppConnectionStatus) -> RunResult:
        if FINALIZER not in seen.finalizers:
            return RunResult()
        deadline = DEFAULT_DEADLINE
        try:
            # One that has an id in the status is found by that, and by what is noted with it.
            needed = _NEEDED_TO_DELETE if previous.id and previous.app else _NEEDED_TO_FIND
            spec = read_spec_in_part(seen, AppConnectionSpec, needed)
            deadline = spec.deletion_deadline
            if spec.on_delete is RemoteDeletionPolicy.DELETE:
                await self._remove(seen, spec, previous)
        except (ReconcileError, KubeError) as error:
            # The identity may not be readable any more: that holds up the end until the deadline, not for ever.
            if isinstance(error, LeaseLostError):
                raise
            failure = failure_of(error)
            outcome = Outcome(Tone.WAITING, failure.reason, failure.message)
            left = self._finalizer.time_left(seen, deadline)
            if left is not None:
                await self._write(seen, previous, outcome)
                return RunResult(failed=True, requeue_after=left)
            what = f"connection {previous.id or seen.key.name}"
            self._telemetry.remote_orphaned(seen, what, outcome.message)
        await self._finalizer.set(seen, present=False)
        return RunResult()

    async def _remove(
        self, seen: ObservedObject, spec: AppConnectionSpec, previous: AppConnectionStatus
    ) -> None:
        """Delete the connection in the service, if it is there and ours."""
        self._gatherer.follow(seen.key, spec)
        session = await self._gatherer.session(seen.key, spec, cleans_up=True)
        remote = RemoteConnections(session)
        project_id = await self._gatherer.project_id(session, spec)
        app = previous.app or canonical_app(spec.app)[0]
        present = await remote.find(app, spec.remote_name(seen.key.name), project_id, previous.id)
        if present is None:
            return
        mark = mark_of(await self._cluster.get(), seen.uid)
        if is_own(present.description, mark, takes_unmarked=present.id == previous.id):
            await remote.delete(present)

    async def _write(self, seen: ObservedObject, previous: AppConnectionStatus, outcome: Outcome) -> None:
        status = build_status(previous, outcome, generation=seen.generation, now=self._clock.now())
        was = previous.conditions[-1].reason if previous.conditions else None
        fine = outcome.tone is Tone.READY
        self._telemetry.outcome(
            seen, outcome.reason, outcome.message, was=was, fine=fine, conditions=status.conditions
        )
        if status != previous:
            await self._patch.apply(seen, status.to_wire())
            self._changed(seen.key)
