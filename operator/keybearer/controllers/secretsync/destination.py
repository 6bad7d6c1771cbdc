"""Brings about the sync to a destination: its definition, its runs, and what the service tells of them.

While the guard watches (`guard.maxDeletions` under 100) the service doesn't push by itself: the operator hears of a
change, sees whether it would empty the destination, and has the service push (decision 0012).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from keybearer.base.clock import Clock
from keybearer.client import NotFound, SecretSync
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.appconnection.reading import read_status as read_connection_status
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.conditions import Tone
from keybearer.controllers.connection_followers import ConnectionFollowers
from keybearer.controllers.custom_resource import ConditionStatus
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.ownership import Ownership, mark_of, ownership_of
from keybearer.controllers.queue import WorkKey
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.secretsync.changes import KeyChanges
from keybearer.controllers.secretsync.destination_plan import (
    DefinitionAction,
    DesiredSync,
    build_definition,
    definition_action,
    judge_guard,
    require_whole_folder,
    sync_name,
)
from keybearer.controllers.secretsync.gather import FolderReading, Gatherer
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.remote_syncs import (
    ImportBehavior,
    RemoteSyncs,
    SyncBoard,
    mirrored,
    present_of,
)
from keybearer.controllers.secretsync.resource import Mode, SecretSyncSpec
from keybearer.controllers.secretsync.spec_destination import ConnectionRef, DestinationDeletionPolicy
from keybearer.controllers.secretsync.spec_source import Source
from keybearer.controllers.secretsync.status import (
    PushStatus,
    RemoteSyncStatus,
    SecretSyncStatus,
)
from keybearer.controllers.service_session import ServiceSession
from keybearer.wire.vocabulary import canonical_destination

__all__ = ["DestinationOutcome", "Destinations"]

_BUSY = frozenset({"pending", "running"})
_SOON = timedelta(milliseconds=300)
"""Between two looks at a run that is under way."""
_LATER = timedelta(seconds=2)
_SOON_FOR_SECONDS = 30.0
_REFRESH = timedelta(minutes=5)
"""Between two looks at a sync at rest: what others do with it in the service."""


@dataclass(frozen=True, slots=True)
class DestinationOutcome:
    """How the destination's part of a run ended.

    Attributes:
        sync: the sync as the service tells of it; None where there is none.
        push: what was given to it.
        changes: names that are held back.
        look_again: when its state is to be looked at again.
    """

    tone: Tone
    reason: Reason
    message: str
    sync: RemoteSyncStatus | None
    push: PushStatus
    look_again: timedelta
    changes: KeyChanges = field(default_factory=KeyChanges)


class Destinations:
    """Brings about the sync of one SecretSync after the other; remembers only since when each run is awaited."""

    def __init__(
        self,
        *,
        clock: Clock,
        access: ServiceAccess,
        gatherer: Gatherer,
        objects: ObjectStore,
        followers: ConnectionFollowers,
        cluster: ClusterIdentity,
        fingerprinter: Fingerprinter,
    ) -> None:
        self._clock = clock
        self._access = access
        self._gatherer = gatherer
        self._objects = objects
        self._followers = followers
        self._cluster = cluster
        self._fingerprinter = fingerprinter
        self._board = SyncBoard(clock)
        self._awaited_since: dict[str, float] = {}

    def follow(self, seen: ObservedObject, spec: SecretSyncSpec) -> None:
        """Have the SecretSync reconciled when its connection becomes ready."""
        ref = spec.connection_ref
        self._followers.follow(seen.key, None if ref is None else ref.name)

    def forget(self, key: WorkKey) -> None:
        """End what a SecretSync that is gone waits for."""
        self._followers.follow(key, None)

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
            raise TypeError(spec.destination)
        require_whole_folder(source)
        connection_id = self._connection_id(seen, ref)
        reading = await self._gatherer.read_folder(seen, spec, not_before=not_before)
        session = await self._access.named_session(seen.key, spec.identity_ref.name)
        project_id = await _project_id(session, source)
        desired = build_definition(
            seen,
            spec,
            source,
            project_id=project_id,
            connection_id=connection_id,
            mark=mark_of(await self._cluster.get(), seen.uid),
            fingerprinter=self._fingerprinter,
        )
        run = _Run(self, seen, spec, previous, request, desired, RemoteSyncs(session), reading)
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
        whose = (
            None
            if sync is None
            else ownership_of(sync.description, mark_of(await self._cluster.get(), seen.uid))
        )
        if sync is not None and sync.is_auto_sync_enabled and whose is Ownership.OURS:
            await remote.quiet(sync)

    async def clean_up(
        self, seen: ObservedObject, spec: SecretSyncSpec, previous: SecretSyncStatus
    ) -> RemoteSyncStatus | None:
        """Delete the sync, and its secrets where that is asked for; return what is left of it, None for nothing.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
            KubeError: the API server can't be asked.
        """
        if spec.identity_ref is None:
            return None
        self._gatherer.follow_identity(seen, spec)
        session = await self._access.named_session(seen.key, spec.identity_ref.name)
        remote = RemoteSyncs(session)
        known = previous.sync
        there = await self._own_sync(remote, seen, spec, known)
        if there is None:
            return None
        whose = ownership_of(there.description or None, mark_of(await self._cluster.get(), seen.uid))
        is_known = known is not None and known.id == there.id
        if whose is not Ownership.OURS and not (whose is Ownership.NOBODY and is_known):
            return None
        if there.remove_status in _BUSY:
            return mirrored(there)
        removes = spec.destination_deletion_policy is DestinationDeletionPolicy.REMOVE_SECRETS
        await remote.delete(there, remove_secrets=removes)
        left = await remote.get(there.destination, there.id) if removes else None
        return None if left is None else mirrored(left)

    async def _own_sync(
        self,
        remote: RemoteSyncs,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        known: RemoteSyncStatus | None,
    ) -> SecretSync | None:
        if known is not None and known.id is not None and known.destination is not None:
            found = await remote.get(known.destination, known.id)
            if found is not None:
                return found
        if spec.destination is None or spec.source is None:
            return None
        destination, _ = canonical_destination(spec.destination)
        project_id = await _project_id(remote.session, spec.source)
        return await remote.find(destination, sync_name(seen, spec), project_id, None)

    def _connection_id(self, seen: ObservedObject, ref: ConnectionRef) -> str:
        if ref.id is not None:
            return ref.id
        key = WorkKey("AppConnection", seen.key.namespace, ref.name or "")
        found = self._objects.get(key)
        if found is None:
            raise WaitingError(
                Reason.CONNECTION_NOT_READY,
                f"AppConnection {ref.name} doesn't exist; create it, or correct connectionRef.name",
                retry=False,
            )
        status = read_connection_status(found)
        ready = next((one for one in status.conditions if one.type == "Ready"), None)
        is_ready = ready is not None and ready.status is ConditionStatus.TRUE
        # A connection that worked and whose change is refused still works for what uses it.
        if status.id is None or found.deletion_timestamp is not None or not (is_ready or status.version):
            raise WaitingError(
                Reason.CONNECTION_NOT_READY,
                f"AppConnection {ref.name} is not ready"
                + (f": {ready.message}" if ready is not None and not is_ready else ""),
                retry=False,
            )
        return status.id

    async def look(self, remote: RemoteSyncs, project_id: str, sync_id: str) -> SecretSync | None:
        """Return the sync as it is now, by a look that others share; None where the project has none of that id."""
        recent = self._clock.monotonic() - _SOON.total_seconds() / 2
        return await self._board.look(remote.session, project_id, sync_id, not_before=recent)

    def pause(self, sync: SecretSync) -> timedelta:
        """Return when to look again: soon while something is under way, and less soon once that takes long."""
        if not _BUSY & {sync.sync_status, sync.import_status, sync.remove_status}:
            self._awaited_since.pop(sync.id, None)
            return _REFRESH
        since = self._awaited_since.setdefault(sync.id, self._clock.monotonic())
        return _SOON if self._clock.monotonic() - since < _SOON_FOR_SECONDS else _LATER


@dataclass(frozen=True, slots=True)
class _Run:
    """One run for one sync."""

    parts: Destinations
    seen: ObservedObject
    spec: SecretSyncSpec
    previous: SecretSyncStatus
    request: PendingRequest | None
    desired: DesiredSync
    remote: RemoteSyncs
    reading: FolderReading

    @property
    def push(self) -> PushStatus:
        """What was given to the sync last."""
        return self.previous.push or PushStatus()

    async def bring_about(self) -> DestinationOutcome:
        known = self.previous.sync
        known_id = None if known is None else known.id
        sync = await self._present()
        action = definition_action(
            self.desired, None if sync is None else present_of(sync), known_id, self.push
        )
        verdict = judge_guard(self.push.keys, len(self.reading.names), self.spec.guard.max_deletions)
        released = self.request is not None and self.request.releases_guard
        approved = self.request is not None and self.request.approves_plan
        if sync is not None and action is not DefinitionAction.NONE and self.spec.mode is not Mode.APPLY:
            sync = await self._quieted(sync)
        if self.spec.mode is Mode.PLAN and not approved:
            return self._planned(sync, action)
        if verdict.holds_back and not released:
            return self._ended(sync, Tone.HELD, Reason.GUARDED, verdict.message, self.push)
        done_once = known is not None and known.last_synced_at is not None
        if self.spec.mode is Mode.CREATE_ONCE and sync is not None and done_once:
            return self._told(await self._looked_at(sync), self.push)
        push = self.push
        match action:
            case DefinitionAction.CREATE:
                sync, push = await self.remote.create(self.desired), PushStatus()
            case DefinitionAction.UPDATE if sync is not None:
                sync = await self.remote.update(sync.id, self.desired)
            case _:
                pass
        if sync is None:
            raise TypeError(action)
        push = push.model_copy(update={"definition": self.desired.fingerprint, "version": sync.version})
        sync, push = await self._run_where_due(sync, push, changed=action is not DefinitionAction.NONE)
        return self._told(await self._looked_at(sync), push)

    async def _run_where_due(
        self, sync: SecretSync, push: PushStatus, *, changed: bool
    ) -> tuple[SecretSync, PushStatus]:
        request = self.request
        if request is not None and request.kind == "import":
            return await self.remote.take_in(sync, self._behavior()), push
        is_driven = self.spec.is_auto_sync_enabled and not self.desired.is_automatic
        is_news = changed or push.content != self.reading.fingerprint
        asked = request is not None
        # Told once before: what failed is tried again at leisure, not as soon as it is seen.
        told = self.previous.sync
        is_due_again = sync.sync_status == "failed" and told is not None and told.sync_status == "failed"
        if not (asked or (is_driven and (is_news or is_due_again))):
            return sync, push
        if sync.sync_status not in _BUSY or is_news:
            sync = await self.remote.push(sync)
        given = {"content": self.reading.fingerprint, "keys": len(self.reading.names)}
        return sync, push.model_copy(update=given)

    async def _present(self) -> SecretSync | None:
        known = self.previous.sync
        known_id = None if known is None else known.id
        if known is not None and known_id is not None and known.sync_status in _BUSY:
            # Awaited together with many others, perhaps: one look at the project serves all.
            found = await self.parts.look(self.remote, self.desired.project_id, known_id)
            if found is not None:
                return found
        return await self.remote.find(
            self.desired.destination, self.desired.name, self.desired.project_id, known_id
        )

    async def _looked_at(self, sync: SecretSync) -> SecretSync:
        busy = _BUSY & {sync.sync_status, sync.import_status, sync.remove_status}
        if not busy:
            return sync
        return await self.parts.look(self.remote, sync.project_id, sync.id) or sync

    async def _quieted(self, sync: SecretSync) -> SecretSync:
        """Have the service push nothing by itself any more: what a mode holds back, nobody else lets pass."""
        return await self.remote.quiet(sync) if sync.is_auto_sync_enabled else sync

    def _behavior(self) -> ImportBehavior:
        wanted = self.request.import_behavior if self.request is not None else None
        return "prioritize-destination" if wanted == "prioritize-destination" else "prioritize-source"

    def _planned(self, sync: SecretSync | None, action: DefinitionAction) -> DestinationOutcome:
        where = f"{self.desired.destination} through connection {self.desired.connection_id}"
        if sync is None:
            message = (
                f"would create sync {self.desired.name} to {where} and push {len(self.reading.names)} secrets"
            )
        elif action is DefinitionAction.UPDATE:
            message = f"would change sync {self.desired.name} to {where} and push what differs"
        elif self.push.content != self.reading.fingerprint:
            message = f"would push what differs to {where}"
        else:
            return self._told(sync, self.push)
        held = KeyChanges(add=self.reading.names if sync is None else ())
        return self._ended(
            sync,
            Tone.HELD,
            Reason.PLANNED,
            f"{message}; annotate keybearer.dev/request: approve-plan to let it",
            self.push,
            held,
        )

    def _told(self, sync: SecretSync, push: PushStatus) -> DestinationOutcome:
        where = self.desired.destination
        if sync.sync_status in _BUSY:
            return self._ended(sync, Tone.WAITING, Reason.PUSHING, f"the service pushes to {where}", push)
        if sync.sync_status == "failed":
            text = f"the last push to {where} failed: {sync.last_sync_message or 'the service says no more'}"
            return self._ended(sync, Tone.STALLED, Reason.PUSH_FAILED, text, push)
        keys = len(self.reading.names)
        text = f"{keys} {'secret is' if keys == 1 else 'secrets are'} pushed to {where}"
        if sync.last_synced_at is None:
            text = f"sync {sync.name} to {where} is ready; nothing was pushed yet"
        # Of imports and removals, which people ask for one by one, `status.sync` tells; they don't make a push bad.
        for what, status in (("import", sync.import_status), ("removal", sync.remove_status)):
            if status == "failed":
                text = f"{text}; the last {what} failed, see status.sync"
        return self._ended(sync, Tone.READY, Reason.SYNCED, text, push)

    def _ended(
        self,
        sync: SecretSync | None,
        tone: Tone,
        reason: Reason,
        message: str,
        push: PushStatus,
        changes: KeyChanges | None = None,
    ) -> DestinationOutcome:
        return DestinationOutcome(
            tone,
            reason,
            message,
            None if sync is None else mirrored(sync),
            push,
            _REFRESH if sync is None else self.parts.pause(sync),
            changes or KeyChanges(),
        )


async def _project_id(session: ServiceSession, source: Source) -> str:
    if source.project_id is not None:
        return source.project_id
    slug = source.project_slug or ""
    try:
        return await session.project_id(slug)
    except NotFound as error:
        raise StalledError(
            Reason.SOURCE_NOT_FOUND,
            f"project {slug} doesn't exist, or the identity can't see it: {error.message}; correct projectSlug",
        ) from None
