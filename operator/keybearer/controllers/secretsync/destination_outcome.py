"""How the destination's part of a run ended, and the sentences that tell it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from keybearer.client import SecretSync
from keybearer.controllers.conditions import Tone
from keybearer.controllers.secretsync.destination_plan import DefinitionAction, DesiredSync
from keybearer.controllers.secretsync.push_status import is_parked
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.status import PushStatus, RemoteSyncStatus
from keybearer.controllers.secretsync.sync_watch import BUSY
from keybearer.controllers.target.changes import KeyChanges

__all__ = ["DestinationOutcome", "End", "planned_message", "told"]


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
class End:
    """What a condition is to say."""

    tone: Tone
    reason: Reason
    message: str


def told(sync: SecretSync, push: PushStatus, keys: int, now: datetime) -> End:
    """Return how a sync stands.

    Args:
        sync: as the service tells of it.
        push: what is known of its names.
        keys: how many secrets the folder has.
        now: the present instant.
    """
    where = sync.destination
    if is_parked(sync, now):
        text = f"the service goes on pushing to {where} by itself: {sync.last_sync_message}"
        return End(Tone.WAITING, Reason.PUSHING, text)
    if sync.sync_status in BUSY:
        return End(Tone.WAITING, Reason.PUSHING, f"the service pushes to {where}")
    if sync.sync_status == "failed":
        text = f"the last push to {where} failed: {sync.last_sync_message or 'the service says no more'}"
        return End(Tone.STALLED, Reason.PUSH_FAILED, f"{text}{_of_failed(push)}")
    text = f"{keys} {'secret is' if keys == 1 else 'secrets are'} pushed to {where}"
    if sync.last_synced_at is None:
        text = f"sync {sync.name} to {where} is ready; nothing was pushed yet"
    elif sync.last_sync_message:
        text = f"{text}; {sync.last_sync_message}"
    text = f"{text}{_of_failed(push)}"
    if push.foreign_total:
        text = (
            f"{text}; status.push.foreign names what came from elsewhere, and keybearer.dev/request: remove-foreign "
            "removes that once"
        )
    # Of imports and removals, which people ask for one by one, `status.sync` tells; they don't make a push bad.
    for what, status in (("import", sync.import_status), ("removal", sync.remove_status)):
        if status == "failed":
            text = f"{text}; the last {what} failed, see status.sync"
    return End(Tone.READY, Reason.SYNCED, text)


def planned_message(
    desired: DesiredSync, action: DefinitionAction, changes: KeyChanges, *, is_named: bool
) -> str:
    """Return what `mode: Plan` holds back, in a sentence.

    Args:
        desired: the sync.
        action: what has to be done about its definition.
        changes: names that the push would change.
        is_named: the names are known; else the service told none.
    """
    where = f"{desired.destination} through connection {desired.connection_id}"
    parts = [
        f"{verb} {len(names)}"
        for verb, names in (("add", changes.add), ("change", changes.change), ("remove", changes.remove))
        if names
    ]
    pushes = f"push what differs ({', '.join(parts)}; see status.plan)" if parts else "push what differs"
    if not is_named:
        pushes = f"{pushes}, which the service doesn't name"
    told = {
        DefinitionAction.CREATE: f"create sync {desired.name} to {where} and push {len(changes.add)} secrets",
        DefinitionAction.UPDATE: f"change sync {desired.name} to {where} and {pushes}",
        DefinitionAction.NONE: f"{pushes} to {where}",
    }[action]
    return f"would {told}; annotate keybearer.dev/request: approve-plan to let it"


def _of_failed(push: PushStatus) -> str:
    if not push.failed_total:
        return ""
    names = "1 name" if push.failed_total == 1 else f"{push.failed_total} names"
    return f"; {names} failed, see status.push.failed"
