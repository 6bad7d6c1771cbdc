"""One run for the sync to a destination: its definition, its jobs, and what the service tells of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from keybearer.client import SecretSync
from keybearer.controllers.conditions import Tone
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.secretsync.destination_plan import (
    DefinitionAction,
    DesiredSync,
    definition_action,
    judge_guard,
)
from keybearer.controllers.secretsync.gather import FolderReading
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.remote_syncs import ImportBehavior, RemoteSyncs, mirrored, present_of
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import PushStatus, RemoteSyncStatus, SecretSyncStatus
from keybearer.controllers.secretsync.sync_watch import BUSY, REFRESH, SyncWatch, is_busy
from keybearer.controllers.target.changes import KeyChanges

__all__ = ["DestinationOutcome", "DestinationRun"]


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


@dataclass(frozen=True, slots=True)
class DestinationRun:
    """One run for one sync: what is there and what is wanted was gathered before."""

    watch: SyncWatch
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
        """Have it done.

        Raises:
            ReconcileError: something stands against it.
        """
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
        if request is not None and request.imports:
            return await self.remote.take_in(sync, self._behavior()), push
        is_driven = self.spec.is_auto_sync_enabled and not self.desired.is_automatic
        is_news = changed or push.content != self.reading.fingerprint
        asked = request is not None
        # Told once before: what failed is tried again at leisure, not as soon as it is seen.
        told = self.previous.sync
        is_due_again = sync.sync_status == "failed" and told is not None and told.sync_status == "failed"
        if not (asked or (is_driven and (is_news or is_due_again))):
            return sync, push
        if sync.sync_status not in BUSY or is_news:
            sync = await self.remote.push(sync)
        given = {"content": self.reading.fingerprint, "keys": len(self.reading.names)}
        return sync, push.model_copy(update=given)

    async def _present(self) -> SecretSync | None:
        known = self.previous.sync
        known_id = None if known is None else known.id
        if known is not None and known_id is not None and known.sync_status in BUSY:
            # Awaited together with many others, perhaps: one look at the project serves all.
            found = await self.watch.look(self.remote, self.desired.project_id, known_id)
            if found is not None:
                return found
        return await self.remote.find(
            self.desired.destination, self.desired.name, self.desired.project_id, known_id
        )

    async def _looked_at(self, sync: SecretSync) -> SecretSync:
        if not is_busy(sync):
            return sync
        return await self.watch.look(self.remote, sync.project_id, sync.id) or sync

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
        if sync.sync_status in BUSY:
            return self._ended(sync, Tone.WAITING, Reason.PUSHING, f"the service pushes to {where}", push)
        if sync.sync_status == "failed":
            text = f"the last push to {where} failed: {sync.last_sync_message or 'the service says no more'}"
            return self._ended(sync, Tone.STALLED, Reason.PUSH_FAILED, text, push)
        keys = len(self.reading.names)
        text = f"{keys} {'secret is' if keys == 1 else 'secrets are'} pushed to {where}"
        if sync.last_synced_at is None:
            text = f"sync {sync.name} to {where} is ready; nothing was pushed yet"
        elif sync.last_sync_message:
            text = f"{text}; {sync.last_sync_message}"
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
            REFRESH if sync is None else self.watch.pause(self.seen.key, sync),
            changes or KeyChanges(),
        )
