"""The check of the audit log for whoever has the database and its root key. It writes nothing."""

from __future__ import annotations

from keybearer.base.errors import ConfigurationError
from keybearer.domain.server_keys import RootKeySource, given_root_keys
from keybearer.store.audit_chain.verification import AuditVerification, Known
from keybearer.store.database import Database
from keybearer.store.sealing.keyring import Keyring

__all__ = ["verify_audit_log"]


async def verify_audit_log(
    database: Database, source: RootKeySource, known: Known | None = None
) -> AuditVerification:
    """Return what the check of the audit log finds; services may use the database meanwhile.

    Raises:
        ConfigurationError: the root key is missing or is not the one of this database, or the database is of another
            version.
        UnavailableError: the database can't be reached.
    """
    roots = given_root_keys(source)
    if roots is None:
        raise ConfigurationError(f"root key file {source.file} is missing")
    database.unlock(Keyring(roots))
    await database.require_present()
    async with database.reading() as unit:
        return await unit.verify_audit_log(known)
