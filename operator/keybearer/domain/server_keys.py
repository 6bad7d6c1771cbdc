"""The keys the service itself needs, and how the database is unlocked for use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from keybearer.base.errors import ConfigurationError
from keybearer.base.ids import new_uuid
from keybearer.base.logs import get_logger
from keybearer.store.database import Database
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.sealing.root_key import (
    RootKeys,
    create_root_key_file,
    parse_root_keys,
    read_root_key_file,
)

__all__ = ["RootKeySource", "ServerKeys", "given_root_keys", "unlock"]

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RootKeySource:
    """Where to find the root key: a text (from the environment), else a file that may be created."""

    file: Path
    text: str | None = field(default=None, repr=False)
    may_create: bool = True

    @property
    def is_kept_here(self) -> bool:
        """Whether the service made the file itself, and may put new keys into it."""
        return self.may_create and self.text is None


@dataclass(frozen=True, slots=True)
class ServerKeys:
    """Keys of the service; each is used for one purpose only."""

    token_signing: bytes = field(repr=False)
    credential_digest: bytes = field(repr=False)
    entity_tags: bytes = field(repr=False)
    sync_digests: bytes = field(repr=False)


async def unlock(database: Database, source: RootKeySource) -> ServerKeys:
    """Give the database its root keys, and return the service's keys, made at the first start.

    Raises:
        ConfigurationError: the root key is missing, readable by others, or not the one that was used.
    """
    roots = given_root_keys(source)
    if roots is None:
        async with database.reading() as unit:
            used_before = await unit.keys.any_wrapped()
        if used_before or not source.may_create:
            raise ConfigurationError(
                f"root key file {source.file} is missing; put back the one this database was sealed with"
                if used_before
                else f"root key file {source.file} is missing; "
                "write base64 of 32 random bytes to it, with mode 0600"
            )
        roots = create_root_key_file(source.file)
        _log.info("created_root_key", path=str(source.file))
    database.unlock(Keyring(roots))
    async with database.writing() as unit:
        await unit.root_keys.queue()
        await unit.root_keys.require_openable()
        await unit.root_keys.active()
        keys = ServerKeys(
            token_signing=await unit.keys.server_key("token signing"),
            credential_digest=await unit.keys.server_key("credential digest"),
            entity_tags=await unit.keys.server_key("entity tags"),
            sync_digests=await unit.keys.server_key("sync digests"),
        )
        await unit.auth_methods.prepare()
        writer = await unit.audit_writer(new_uuid())
    database.chain_audit_log(writer)
    return keys


def given_root_keys(source: RootKeySource) -> RootKeys | None:
    """Return the root keys that are to be found at the source now, or None where there is no file.

    Raises:
        ConfigurationError: they can't be read, or others can read them.
    """
    if source.text is not None:
        return parse_root_keys(source.text, "the root key of the environment")
    return read_root_key_file(source.file)
