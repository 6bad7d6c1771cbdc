"""One run for the sync to a destination: its definition, its jobs, and what the service tells of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from keybearer.base.clock import format_instant
from keybearer.client import SecretSync
from keybearer.controllers.conditions import Tone
from keybearer.controllers.effect_budget import PUSHES, EffectBudgets
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.secretsync.conclusion import (
    DestinationOutcome,
    End,
    import_failed_first,
    planned_message,
    told,
)
from keybearer.controllers.secretsync.destination_names import (
    BUSY,
    PASSES,
    PlacedNames,
    has_news,
    is_parked,
    is_shown,
    judge_counts,
    judge_names,
    next_attempt,
    with_names,
)
from keybearer.controllers.secretsync.destination_plan import (
    DefinitionAction,
    DesiredSync,
    definition_action,
)
from keybearer.controllers.secretsync.gather import FolderReading
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.remote_syncs import (
    REFRESH,
    ImportBehavior,
    RemoteSyncs,
    SyncWatch,
    is_busy,
    mirrored,
    present_of,
)
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import PushStatus, SecretSyncStatus
from keybearer.controllers.target.changes import KeyChanges, plan_status
from keybearer.controllers.target.guard import GuardVerdict
from keybearer.controllers.target.status import PlanStatus, removals_of, told_removals

__all__ = ["DestinationRun"]

_ATTEMPT = timedelta(seconds=1)
"""After the service begins with its next attempt it is looked at."""
_PARKED = timedelta(seconds=15)
"""Between two looks at a push that is parked: a success over its connection sets it off earlier."""


@dataclass(frozen=True, slots=True)
class _Push:
    """A push that is judged: what it would do, and whether it may.

    Attributes:
        names: at the destination; None where the service doesn't tell them, or wasn't asked.
        changes: what it would do to them.
        is_news: it isn't what was pushed last.
    """

    is_news: bool
    names: PlacedNames | None = None
    changes: KeyChanges = field(default_factory=KeyChanges)
    verdict: GuardVerdict = PASSES


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
    now: datetime
    budgets: EffectBudgets

    @property
    def push(self) -> PushStatus:
        """What was given to the sync last."""
        return self.previous.push or PushStatus()

    @property
    def _removes_foreign(self) -> bool:
        return self.request is not None and self.request.removes_foreign

    @property
    def _imports(self) -> bool:
        return self.request is not None and self.request.imports

    @property
    def _drives(self) -> bool:
        """Whether the operator has the service push what has changed, rather than the service by itself or nobody."""
        return self.spec.is_auto_sync_enabled and not self.desired.is_automatic

    async def bring_about(self) -> DestinationOutcome:
        """Have it done.

        Raises:
            ReconcileError: something stands against it.
        """
        self._require_known_behavior()
        known = self.previous.sync
        known_id = None if known is None else known.id
        sync = await self._present()
        action = definition_action(
            self.desired, None if sync is None else present_of(sync), known_id, self.push
        )
        if sync is not None and action is not DefinitionAction.NONE and self.spec.mode is not Mode.APPLY:
            sync = await self._quieted(sync)
        if sync is not None and self._waits_for_import(sync):
            return await self._told(sync, self.push)
        done_once = known is not None and known.last_synced_at is not None
        if self.spec.mode is Mode.CREATE_ONCE and sync is not None and done_once and not self._imports:
            return await self._told(await self._looked_at(sync), self.push)
        if sync is not None and action is DefinitionAction.NONE and self._is_left_to_service(sync):
            return await self._told(sync, self.push)
        judged = await self._judged(sync, action)
        if judged.verdict.holds_back:
            return await self._held(sync, judged)
        if self.spec.mode is Mode.PLAN and judged.is_news and not self._is_agreed(judged.changes):
            return self._planned(sync, action, judged)
        counts = self.request is None and (
            action is not DefinitionAction.NONE or (judged.is_news and self._drives)
        )
        if counts:
            self._take_push()
        try:
            return await self._carried_out(sync, action, judged)
        except WaitingError as error:
            if counts and error.reason == Reason.PUSHING:
                self.budgets.give_back(self.seen.uid, PUSHES)  # one that is under way is in the way
            raise

    def _require_known_behavior(self) -> None:
        wrong = None if self.request is None else self.request.wrong_behavior
        if wrong is not None:
            raise StalledError(Reason.IMPORT_BEHAVIOR_UNKNOWN, wrong)

    async def _carried_out(
        self, sync: SecretSync | None, action: DefinitionAction, judged: _Push
    ) -> DestinationOutcome:
        push = self.push
        # An automatic sync would push before it imports; without a fingerprint the next run makes it automatic.
        desired = replace(self.desired, is_automatic=False) if self._imports else self.desired
        is_whole = desired == self.desired
        match action:
            case DefinitionAction.CREATE:
                sync, push = await self.remote.create(desired), PushStatus()
            case DefinitionAction.UPDATE if sync is not None:
                sync = await self.remote.update(sync.id, desired)
            case _:
                is_whole = True
        if sync is None:
            raise TypeError(f"action {action.value} is for a sync that is there, and there is none")
        definition = self.desired.fingerprint if is_whole else None
        push = push.model_copy(update={"definition": definition, "version": sync.version})
        sync, push, names = await self._run_where_due(sync, push, judged)
        outcome = await self._told(await self._looked_at(sync), push, names)
        return replace(outcome, import_settled=self._imports)

    def _take_push(self) -> None:
        """Count a change or a run of the sync that no person asks for.

        Raises:
            WaitingError: there were so many that it waits.
        """
        if self.budgets.take(self.seen.uid, PUSHES) is None:
            return
        overrun = self.budgets.overrun(self.seen.uid, PUSHES)
        since = self.now if overrun is None else overrun.since
        raise WaitingError(
            Reason.PUSHED_TOO_OFTEN,
            f"the source, or the sync in the service, changes so often since {format_instant(since)} that pushes "
            "wait; the next one takes along all that has changed; find out what changes them",
            after=self.budgets.wait(self.seen.uid, PUSHES),
        )

    async def _judged(self, sync: SecretSync | None, action: DefinitionAction) -> _Push:
        """Compare what a push would do with what is in place, where there is something to compare."""
        is_news = action is not DefinitionAction.NONE or self.push.content != self.reading.fingerprint
        if sync is None:
            return _Push(is_news, changes=KeyChanges(add=self.reading.names))
        is_guarded = is_news and self.spec.guard.watches_destination and not self._imports
        is_planned = is_news and self.spec.mode is Mode.PLAN
        if not (is_guarded or is_planned or self._removes_foreign):
            return _Push(is_news)
        names = await self.remote.names(sync)
        rules = self.spec.guard.rules
        if names is None:
            released = self.request is not None and self.request.releases_guard
            verdict = (
                judge_counts(self.push.keys, len(self.reading.names), rules, released=released)
                if is_guarded
                else PASSES
            )
            return _Push(is_news, verdict=verdict)
        # After a push that failed, or while one is under way, nobody knows how much of it arrived.
        pushed = self.push.keys if sync.sync_status == "succeeded" else None
        removes = self.desired.options.get("disableSecretDeletion") is not True
        effect = names.effect(self.reading.names, pushed, removes=removes)
        verdict = PASSES
        if is_guarded:
            past = removals_of(self.push.removals)
            released = self._is_released(effect.changes)
            verdict = judge_names(effect, rules, past=past, released=released, now=self.now)
        return _Push(is_news, names, effect.changes, verdict)

    def _held_back(self, changes: KeyChanges) -> KeyChanges:
        """Return what the status shows of a change that the guard holds: in a plan, all of it."""
        return changes if self.spec.mode is Mode.PLAN else KeyChanges(remove=changes.remove)

    def _is_released(self, changes: KeyChanges) -> bool:
        """Tell whether a person let these names go; a release passes no others than those that were shown."""
        request = self.request
        if request is None or not request.releases_guard:
            return False
        if self.spec.mode is Mode.PLAN:
            return self._was_shown(changes, Reason.GUARDED)
        return self.previous.plan == plan_status(self._held_back(changes))

    def _is_agreed(self, changes: KeyChanges) -> bool:
        """Tell whether a person wants this plan carried out: approved it, or released what the guard held of it."""
        approved = self.request is not None and self.request.approves_plan
        return self._is_released(changes) or (approved and self._was_shown(changes, Reason.PLANNED))

    def _was_shown(self, changes: KeyChanges, reason: Reason) -> bool:
        """Tell whether the status shows this plan, of this spec, for this reason."""
        previous = self.previous
        was_told = any(condition.reason == reason for condition in previous.conditions)
        is_same = (previous.plan or PlanStatus()) == plan_status(changes)
        return was_told and is_same and previous.observed_generation == self.seen.generation

    async def _run_where_due(
        self, sync: SecretSync, push: PushStatus, judged: _Push
    ) -> tuple[SecretSync, PushStatus, PlacedNames | None]:
        """Have the service push or import where it is time; return the names as they are if it wasn't."""
        request = self.request
        if self._imports:
            return await self.remote.take_in(sync, self._behavior()), push, None
        names = judged.names
        removes_foreign = self._removes_foreign and names is not None and bool(names.foreign)
        if removes_foreign and names is not None and not is_shown(self.push, names):
            # What the status doesn't show nobody has agreed to: it is shown now, and may be asked for again.
            request, removes_foreign = None, False
        may_go_on = self.spec.mode is not Mode.PLAN
        is_asked = request is not None and (may_go_on or judged.is_news or removes_foreign)
        is_due = self._drives and (judged.is_news or (may_go_on and self._is_due_again(sync)))
        if not (is_asked or is_due):
            return sync, push, names
        if sync.sync_status not in BUSY or judged.is_news or removes_foreign:
            sync = await self.remote.push(sync, remove_foreign=removes_foreign)
        given = {"content": self.reading.fingerprint, "keys": len(self.reading.names)}
        push = push.model_copy(update=given)
        past = judged.verdict.past
        if past is not None:
            push = push.model_copy(update={"removals": told_removals(past)})
        return sync, push, None

    def _waits_for_import(self, sync: SecretSync) -> bool:
        """Tell whether nothing may be pushed: an import runs, or the first one failed and nobody asks."""
        return sync.import_status in BUSY or (self.request is None and import_failed_first(sync))

    def _is_left_to_service(self, sync: SecretSync) -> bool:
        """Tell whether a push is parked that nobody asks to be set off: it takes along what has changed since."""
        return self.request is None and self.spec.mode is Mode.APPLY and is_parked(sync, self.now)

    def _is_due_again(self, sync: SecretSync) -> bool:
        """Tell whether a push that failed is to be set off: not where the service tries it by itself."""
        if sync.sync_status != "failed" or next_attempt(sync.last_sync_message) is not None:
            return False
        return self.watch.is_due_again(self.seen.key, sync)

    async def _present(self) -> SecretSync | None:
        known = self.previous.sync
        known_id = None if known is None else known.id
        if known is not None and known_id is not None and known.sync_status in BUSY:
            # Awaited together with many others, perhaps: one look at the project serves all.
            found = await self.watch.look(self.remote, self.desired.project_id, known_id)
            if found is not None:
                return found
        return await self.remote.find(
            self.desired.destination, self.desired.name, self.desired.project_id, known
        )

    async def _looked_at(self, sync: SecretSync) -> SecretSync:
        if not is_busy(sync):
            return sync
        return await self.watch.look(self.remote, sync.project_id, sync.id, anew=True) or sync

    async def _quieted(self, sync: SecretSync) -> SecretSync:
        """Have the service push nothing by itself any more: what a mode holds back, nobody else lets pass."""
        return await self.remote.quiet(sync) if sync.is_auto_sync_enabled else sync

    def _behavior(self) -> ImportBehavior:
        wanted = self.request.import_behavior if self.request is not None else None
        return "prioritize-destination" if wanted == "prioritize-destination" else "prioritize-source"

    def _planned(
        self, sync: SecretSync | None, action: DefinitionAction, judged: _Push
    ) -> DestinationOutcome:
        is_named = sync is None or judged.names is not None
        message = planned_message(self.desired, action, judged.changes, is_named=is_named)
        if self._imports:
            message = f"{message}; the import that was asked for waits until mode is Apply"
        end = End(Tone.HELD, Reason.PLANNED, message)
        return self._ended(sync, end, self._named(sync, judged), judged.changes)

    async def _held(self, sync: SecretSync | None, judged: _Push) -> DestinationOutcome:
        if sync is not None and sync.sync_status in BUSY and judged.names is not None:
            # What is under way changes what is in place: it is compared once that has ended.
            return await self._told(sync, self.push)
        end = End(Tone.HELD, Reason.GUARDED, judged.verdict.message)
        return self._ended(sync, end, self._named(sync, judged), self._held_back(judged.changes))

    def _named(self, sync: SecretSync | None, judged: _Push) -> PushStatus:
        if sync is None or judged.names is None or sync.sync_status in BUSY:
            return self.push
        return with_names(self.push, judged.names)

    async def _told(
        self, sync: SecretSync, push: PushStatus, names: PlacedNames | None = None
    ) -> DestinationOutcome:
        now = mirrored(sync)
        if names is None and has_news(self.previous.sync, now):
            push = with_names(push, await self.remote.names(sync))
        elif names is not None:
            push = with_names(push, names)
        elif sync.sync_status == "succeeded" and not sync.last_sync_message:
            push = with_names(push, None)
        return self._ended(sync, told(sync, push, len(self.reading.names), self.now), push)

    def _ended(
        self, sync: SecretSync | None, end: End, push: PushStatus, changes: KeyChanges | None = None
    ) -> DestinationOutcome:
        return DestinationOutcome(
            end.tone,
            end.reason,
            end.message,
            None if sync is None else mirrored(sync),
            push,
            self._look_again(sync),
            changes or KeyChanges(),
        )

    def _look_again(self, sync: SecretSync | None) -> timedelta:
        if sync is None:
            return REFRESH
        pause = self.watch.pause(self.seen.key, sync)
        due_at = next_attempt(sync.last_sync_message)
        if due_at is None or due_at <= self.now:
            return pause
        left = due_at - self.now + _ATTEMPT
        if is_parked(sync, self.now):
            return min(_PARKED, left)
        return min(pause, left) if sync.sync_status == "failed" else pause
