"""Brings about the sync to a destination: its definition, its runs, and what the service tells of them.

While the guard watches (`guard.maxDeletions` under 100) the service doesn't push by itself: the operator hears of a
change, sees whether it would empty the destination, and has the service push (decision 0012).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.client import SecretSync
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.catalogue import CatalogueOf
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.connection_followers import ConnectionFollowers
from keybearer.controllers.connection_state import ReadConnection
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import WaitingError
from keybearer.controllers.ownership import is_own, mark_of
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.secretsync.conclusion import DestinationOutcome
from keybearer.controllers.secretsync.destination_names import BUSY
from keybearer.controllers.secretsync.destination_plan import Definitions, require_whole_folder, sync_name
from keybearer.controllers.secretsync.destination_run import DestinationRun
from keybearer.controllers.secretsync.gather import Gatherer
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.remote_syncs import RemoteSyncs, SyncWatch, mirrored
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec import ConnectionRef, DestinationDeletionPolicy, Source
from keybearer.controllers.secretsync.status import RemoteSyncStatus, SecretSyncStatus
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.work import WorkKey
from keybearer.kube.resources import APP_CONNECTIONS
from keybearer.wire.vocabulary import canonical_destination

__all__ = ["Destinations", "SyncRemoval"]


@dataclass(frozen=True, slots=True)
class SyncRemoval:
    """A sync that is there until its secrets are removed from the destination.

    Attributes:
        sync: as the service shows it.
        again: when it is looked at again; None where the removal failed, which is asked for anew after the backoff.
    """

    sync: RemoteSyncStatus
    again: timedelta | None

    @property
    def message(self) -> str:
        """How far it is, for people."""
        state = self.sync.last_remove_message or self.sync.remove_status
        return f"secrets are removed from {self.sync.destination}: {state}"


class Destinations:
    """Brings about the sync of one SecretSync after the other."""

    def __init__(  # noqa: PLR0913 - collaborators, given once where the process is wired
        self,
        *,
        clock: Clock,
        access: ServiceAccess,
        gatherer: Gatherer,
        objects: ObjectStore,
        followers: ConnectionFollowers,
        read_connection: ReadConnection,
        cluster: ClusterIdentity,
        catalogue: CatalogueOf,
        fingerprinter: Fingerprinter,
        budgets: EffectBudgets,
    ) -> None:
        self._budgets = budgets
        self._clock = clock
        self._access = access
        self._gatherer = gatherer
        self._objects = objects
        self._followers = followers
        self._read_connection = read_connection
        self._cluster = cluster
        self._definitions = Definitions(catalogue, fingerprinter)
        self._watch = SyncWatch(clock)

    def follow(self, seen: ObservedObject, spec: SecretSyncSpec) -> None:
        """Have the SecretSync reconciled when its connection becomes ready."""
        ref = spec.connection_ref
        self._followers.follow(seen.key, None if ref is None else ref.name)

    def forget(self, key: WorkKey) -> None:
        """End what a SecretSync that is gone waits for, and drop what is kept for it."""
        self._followers.follow(key, None)
        self._definitions.forget(key)
        self._watch.forget(key)

    async def bring_about(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        previous: SecretSyncStatus,
        request: PendingRequest | None,
        *,
        not_before: float,
    ) -> DestinationOutcome:
        """Make the sync what is described, have it run where it is due, and return how it stands.

        Raises:
            ReconcileError: something stands against it.
            KubeError: the API server can't be asked.
        """
        source, ref = spec.source, spec.connection_ref
        if source is None or ref is None or spec.identity_ref is None:
            raise TypeError("a spec with a destination lacks source or a reference; its rules forbid that")
        require_whole_folder(source)
        connection_id = self._connection_id(seen, ref)
        reading = await self._gatherer.read_folder(seen, spec, not_before=not_before)
        session = await self._access.named_session(seen.key, spec.identity_ref.name)
        project_id = await _project_id(session, source)
        desired = self._definitions.of(
            seen,
            spec,
            source,
            project_id=project_id,
            connection_id=connection_id,
            mark=mark_of(await self._cluster.get(), seen.uid),
        )
        run = DestinationRun(
            self._watch,
            seen,
            spec,
            previous,
            request,
            desired,
            RemoteSyncs(session),
            reading,
            self._clock.now(),
            self._budgets,
        )
        return await run.bring_about()

    async def quiet(self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus) -> None:
        """Have the service push nothing by itself for an object that is suspended.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
            KubeError: the API server can't be asked.
        """
        known = previous.sync
        if spec.identity_ref is None or known is None or known.id is None or known.destination is None:
            return
        self._gatherer.follow_identity(seen, spec)
        remote = RemoteSyncs(await self._access.named_session(seen.key, spec.identity_ref.name))
        sync = await remote.get(known.destination, known.id)
        if sync is None or not sync.is_auto_sync_enabled:
            return
        if is_own(sync.description, mark_of(await self._cluster.get(), seen.uid), takes_unmarked=False):
            await remote.quiet(sync)

    async def clean_up(
        self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus
    ) -> SyncRemoval | None:
        """Delete the sync, and its secrets where that is asked for; return what is left of it, None for nothing.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
            KubeError: the API server can't be asked.
        """
        if spec.identity_ref is None:
            if previous.sync is None:
                return None
            raise WaitingError(
                Reason.IDENTITY_NOT_FOUND,
                "spec.identityRef is missing or can't be read, so the sync in the service can't be deleted; correct "
                "it, or delete the sync there",
            )
        self.follow(seen, spec)
        self._gatherer.follow_identity(seen, spec)
        is_ending = seen.deletion_timestamp is not None
        session = await self._access.named_session(seen.key, spec.identity_ref.name, cleans_up=is_ending)
        remote = RemoteSyncs(session)
        known = previous.sync
        mark = mark_of(await self._cluster.get(), seen.uid)
        there = await self._own_sync(remote, seen, spec, mark, known)
        if there is None:
            return None
        is_known = known is not None and known.id == there.id
        if not is_own(there.description, mark, takes_unmarked=is_known):
            return None
        if there.remove_status in BUSY:
            return self._removal(seen.key, there)
        if known is not None and known.remove_status in BUSY and there.remove_status == "failed":
            return self._removal(seen.key, there)
        removes = spec.destination_deletion_policy is DestinationDeletionPolicy.REMOVE_SECRETS
        await remote.delete(there, remove_secrets=removes)
        left = await remote.get(there.destination, there.id) if removes else None
        return None if left is None else self._removal(seen.key, left)

    def _removal(self, key: WorkKey, there: SecretSync) -> SyncRemoval:
        pause = self._watch.pause(key, there)
        return SyncRemoval(mirrored(there), None if there.remove_status == "failed" else pause)

    async def _own_sync(
        self,
        remote: RemoteSyncs,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        mark: str,
        known: RemoteSyncStatus | None,
    ) -> SecretSync | None:
        if known is not None and known.id is not None and known.destination is not None:
            found = await self._under_removal(remote, spec, known, known.id)
            if found is None:
                found = await remote.get(known.destination, known.id)
            if found is not None:
                return found
        if spec.destination is None or spec.source is None:
            return None
        destination, _ = canonical_destination(spec.destination)
        project_id = await _project_id(remote.session, spec.source)
        return await remote.find(destination, sync_name(seen, spec, mark), project_id, None)

    async def _under_removal(
        self, remote: RemoteSyncs, spec: SecretSyncSpec, known: RemoteSyncStatus, sync_id: str
    ) -> SecretSync | None:
        """Return a sync whose removal goes on, by the look that all who wait share; None where that can't tell.

        A list may be older than what was just asked for, and the spec may name another project by now. So only what
        is under way is believed; of what has ended, the sync itself is asked.
        """
        if known.remove_status not in BUSY or spec.source is None:
            return None
        project_id = await _project_id(remote.session, spec.source)
        found = await self._watch.look(remote, project_id, sync_id)
        return found if found is not None and found.remove_status in BUSY else None

    def _connection_id(self, seen: ObservedObject, ref: ConnectionRef) -> str:
        if ref.id is not None:
            return ref.id
        key = WorkKey(APP_CONNECTIONS.kind, seen.key.namespace, ref.name or "")
        found = self._objects.get(key)
        if found is None:
            raise WaitingError(
                Reason.CONNECTION_NOT_READY,
                f"AppConnection {ref.name} doesn't exist; create it, or correct connectionRef.name",
                retry=False,
                remedy=Remedy(
                    f"Create AppConnection {ref.name}, or correct spec.connectionRef.name.",
                    "kubectl -n {namespace} get appconnections",
                    about="spec.connectionRef.name",
                ),
            )
        state = self._read_connection(found)
        if state.id is None:
            raise WaitingError(
                Reason.CONNECTION_NOT_READY,
                f"AppConnection {ref.name} is not ready"
                + ("" if state.trouble is None else f": {state.trouble}"),
                retry=False,
                remedy=Remedy(
                    f"Correct AppConnection {ref.name}.",
                    f"kubectl keybearer explain appconnection/{ref.name} -n {{namespace}}",
                    about=f"AppConnection {ref.name}",
                ),
            )
        return state.id


async def _project_id(session: ServiceSession, source: Source) -> str:
    if source.project_id is not None:
        return source.project_id
    return await session.project_id(source.project_slug or "", missing=Reason.SOURCE_NOT_FOUND)
