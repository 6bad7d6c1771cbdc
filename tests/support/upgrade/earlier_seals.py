"""Gives what is sealed in a database the form that versions before 0023 wrote."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Connection, MetaData

from keybearer.store.sealing.envelope import (
    BARE,
    BOUND,
    Ciphertext,
    SealingKey,
    WrappedKey,
    associate,
    format_of,
    key_name,
    key_name_of,
)
from keybearer.store.sealing.keyring import Keyring, data_key_identity

__all__ = ["seal_as_before"]


def seal_as_before(connection: Connection, keyring: Keyring) -> None:
    """Wrap data keys and seal secrets as before, and remove all sums, in tables of 0023 or later."""
    tables = MetaData()
    tables.reflect(connection)
    keys, secrets, versions = (tables.tables[name] for name in ("data_keys", "secrets", "secret_versions"))
    known: dict[bytes, SealingKey] = {}
    for row in connection.execute(keys.select()).all():
        name, identity = key_name(UUID(row.id), row.version), data_key_identity(row.project_id)
        strict = keyring.roots.unwrap(WrappedKey(row.wrapped), name, identity)
        known[name] = SealingKey(name, strict.material)
        wrapped = keyring.roots.first.wrap(known[name], identity)
        connection.execute(keys.update().where(keys.c.id == row.id).values(wrapped=wrapped))

    def before(
        envelope: bytes | None, purpose: str, *bare: str | int, bound: tuple[str, str]
    ) -> bytes | None:
        if envelope is None or format_of(envelope) != BOUND:
            return envelope
        key = known[key_name_of(envelope)]
        plain = key.open(Ciphertext(envelope), associate(purpose, *bare, *bound))
        return key.seal(plain, associate(purpose, *bare), BARE)

    projects = {}
    for row in connection.execute(secrets.select()).all():
        projects[row.id] = row.project_id
        place, bound = (row.project_id, row.id, row.version), (row.folder_id, row.key)
        connection.execute(
            secrets.update()
            .where(secrets.c.id == row.id)
            .values(
                value=before(row.value, "secret value", *place, bound=bound),
                details=before(row.details, "secret details", *place, bound=bound),
            )
        )
    for row in connection.execute(versions.select()).all():
        place, bound = (projects[row.secret_id], row.secret_id, row.version), (row.folder_id or "", row.key)
        connection.execute(
            versions.update()
            .where(versions.c.secret_id == row.secret_id, versions.c.version == row.version)
            .values(
                folder_id=None,
                value=before(row.value, "secret value", *place, bound=bound),
                details=before(row.details, "secret details", *place, bound=bound),
            )
        )
    connection.execute(tables.tables["folders"].update().values(seal=None))
    connection.execute(tables.tables["projects"].update().values(places=None))
