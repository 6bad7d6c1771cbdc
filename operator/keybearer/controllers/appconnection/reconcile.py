"""One run for one AppConnection: gather, plan, apply. What no status tells of is found by its mark."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from keybearer.base.clock import Clock
from keybearer.controllers.annotations import SYNC
from keybearer.controllers.appconnection.conclusion import ConnectionOutcome, build_status, connected
from keybearer.controllers.appconnection.desired import build_connection, kind_of
from keybearer.controllers.appconnection.gather import ConnectionGatherer
from keybearer.controllers.appconnection.plan import (
    Applied,
    CreateConnection,
    UpdateConnection,
    plan_connection,
)
from keybearer.controllers.appconnection.remedies import REMEDIES
from keybearer.controllers.appconnection.remote import RemoteConnections
from keybearer.controllers.appconnection.resource import AppConnectionSpec, RemoteDeletionPolicy
from keybearer.controllers.appconnection.status import AppConnectionStatus
from keybearer.controllers.catalogue import CatalogueOf
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ReconcileError
from keybearer.controllers.ownership import is_own, mark_of
from keybearer.controllers.reconciler import Kind, KindReconciler, Leftover
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.telemetry import Telemetry
from keybearer.controllers.work import WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import KubeError
from keybearer.kube.gateway import Gateway
from keybearer.wire.vocabulary import canonical_app

__all__ = ["AppConnectionReconciler"]

_REFRESH = timedelta(minutes=5)
"""How often a connection is compared with what the service holds: rotations, and what others changed or deleted."""
_NEEDED_TO_DELETE = frozenset({"identity_ref", "on_delete"})
_NEEDED_TO_FIND = _NEEDED_TO_DELETE | {"app", "name", "project_id", "project_slug"}
"""What can't be guessed of a spec, for deleting the wrong connection would be worse than leaving one behind."""


_KIND = Kind(
    spec=AppConnectionSpec,
    status=AppConnectionStatus,
    outcome=ConnectionOutcome,
    requests=frozenset({SYNC}),
    remedies=REMEDIES,
)


_OF_ORGANIZATION = (
    "without spec.projectSlug, the connection is of the organization, and roles of projects don't apply"
)


def _in_a_project(name: str) -> Remedy:
    patch = shlex.quote('{"spec":{"projectSlug":"PROJECT"}}')
    return Remedy(
        "Set spec.projectSlug to the project that uses the connection, where the identity needs the role admin; or "
        "name an identity with the role admin of the organization in spec.identityRef.",
        f"kubectl -n {{namespace}} patch appconnection {name} --type=merge -p {patch}",
        about="spec.projectSlug",
    )


class AppConnectionReconciler(KindReconciler[AppConnectionSpec, AppConnectionStatus, ConnectionOutcome]):
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
        super().__init__(_KIND, clock=clock, gateway=gateway, objects=objects, telemetry=telemetry)
        self._gatherer = gatherer
        self._cluster = cluster
        self._catalogue = catalogue
        self._fingerprinter = fingerprinter
        self._changed = changed

    def forget(self, key: WorkKey) -> None:
        """Forget all that is kept of an object that is gone."""
        self._gatherer.forget(key)

    async def _bring_about(
        self,
        seen: ObservedObject,
        spec: AppConnectionSpec,
        previous: AppConnectionStatus,
        request: PendingRequest | None,
    ) -> tuple[ConnectionOutcome, RunResult]:
        del request  # each run compares with the service
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
            raise TypeError("nothing was planned for a connection that is not there")
        return connected(desired, present), RunResult(requeue_after=_REFRESH)

    def _broke_off(
        self,
        error: ReconcileError | KubeError,
        seen: ObservedObject,
        spec: AppConnectionSpec | None,
        previous: AppConnectionStatus,
    ) -> tuple[ConnectionOutcome, RunResult]:
        outcome, result = super()._broke_off(error, seen, spec, previous)
        is_of_project = spec is None or spec.project_id is not None or spec.project_slug is not None
        if outcome.reason != "PermissionDenied" or is_of_project:
            return outcome, result
        message = f"{outcome.message}; {_OF_ORGANIZATION}"
        return replace(outcome, message=message, remedy=_in_a_project(seen.key.name)), result

    def _status_after(
        self,
        seen: ObservedObject,
        previous: AppConnectionStatus,
        outcome: ConnectionOutcome,
        now: datetime,
    ) -> AppConnectionStatus:
        return build_status(previous, outcome, generation=seen.generation, now=now)

    def _wrote(self, key: WorkKey) -> None:
        self._changed(key)

    # The end of the object

    def _needed_to_clean_up(self, previous: AppConnectionStatus) -> Collection[str]:
        # One that has an id in the status is found by that, and by what is noted with it.
        return _NEEDED_TO_DELETE if previous.id and previous.app else _NEEDED_TO_FIND

    def _what_it_left(self, seen: ObservedObject, previous: AppConnectionStatus) -> str:
        return f"connection {previous.id or seen.key.name}"

    def _leftovers(
        self, seen: ObservedObject, spec: AppConnectionSpec, previous: AppConnectionStatus
    ) -> Sequence[Leftover[ConnectionOutcome]]:
        if spec.on_delete is not RemoteDeletionPolicy.DELETE:
            return ()
        return (Leftover(self._what_it_left(seen, previous), partial(self._remove, seen, spec, previous)),)

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
