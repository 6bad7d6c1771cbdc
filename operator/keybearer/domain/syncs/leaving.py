"""Stores a changed sync, and keeps or moves its ledger."""

from __future__ import annotations

from datetime import datetime

from keybearer.base.ids import new_uuid
from keybearer.destinations.form import DestinationKind
from keybearer.domain.syncs.changes import Loss, loss_of
from keybearer.domain.syncs.lookup import stored_sync
from keybearer.domain.syncs.places import Setup, is_same_place
from keybearer.store.former_places import FormerPlace
from keybearer.store.secret_syncs import SecretSync, SyncRecord
from keybearer.store.unit import UnitOfWork

__all__ = ["store_changed"]


async def store_changed(
    unit: UnitOfWork, model: DestinationKind, old: SecretSync, changed: SyncRecord, now: datetime
) -> SecretSync:
    """Store a changed sync, with what is known of its present and former places; return it.

    If it moves to another place, the names in its ledger become those of a former place. A run removes them after it
    has pushed to the new place. If it returns to a former place, what it left there is in its ledger again.
    """
    await unit.secret_syncs.update(changed)
    new = await stored_sync(unit, changed.id)
    went, came = Setup.of(old), Setup.of(new)
    is_moved = not is_same_place(model, went, came)
    if is_moved:
        # These names belong to the former place.
        await unit.sync_names.clear(changed.id)
        await _move(unit, model, went, came, changed.id, now)
    if new.record.sync_options.get("disableSecretDeletion") is True:
        await unit.former_places.forget(changed.id)
    match loss_of(old.record, changed, is_moved=is_moved):
        case Loss.REMOTE:
            await unit.secret_syncs.unlearn(changed.id)
        case Loss.SOURCE:
            await unit.secret_syncs.resource(changed.id)
        case Loss.NOTHING:
            pass
    return await stored_sync(unit, changed.id)


async def _move(
    unit: UnitOfWork, model: DestinationKind, went: Setup, came: Setup, sync_id: str, now: datetime
) -> None:
    known = await unit.former_places.of_sync(sync_id)
    back = next((one for one in known if is_same_place(model, Setup.of_former(one), came)), None)
    # Any of the others may be the new place.
    await unit.former_places.compare_anew(sync_id)
    await unit.former_places.leave(
        FormerPlace(
            id=new_uuid(),
            sync_id=sync_id,
            connection_id=went.connection_id,
            destination_config=went.config,
            destination_digest=went.digest,
            sync_options=went.options,
            environment=went.environment,
            # If the former place is not the new one, then neither is this the former one.
            is_apart=back is not None and back.is_apart,
            attempts=0,
            next_attempt_at=now,
            message=None,
            created_at=now,
        )
    )
    if back is not None:
        await unit.former_places.take_back(back)
