"""What a process does with a database that it opens: it takes keys along, and begins chains of the audit log."""

from __future__ import annotations

from uuid import uuid4

from keybearer.store.database import Database
from keybearer.store.sealing.envelope import SealingKey, key_name, new_key_material
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.sealing.root_key import RootKeys

__all__ = ["unlock_with"]


async def unlock_with(database: Database, keyring: Keyring | None = None) -> None:
    """Unlock the database, with keys of its own by default; lines of its audit log go into chains from then on."""
    database.unlock(keyring or Keyring(RootKeys(SealingKey(key_name(uuid4(), 1), new_key_material()))))
    async with database.writing() as unit:
        writer = await unit.audit_writer(str(uuid4()))
    database.chain_audit_log(writer)
