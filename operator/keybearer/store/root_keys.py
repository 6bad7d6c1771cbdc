"""Which root key wraps, which processes hold which, and wrapping anew: names of root keys only, never a key.

What wraps is decided here and not in a process: whoever wraps reads it, locked, within the same transaction. So a
change of it waits for all wrapping under way, and nobody wraps with the former one afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, delete, func, insert, literal, select, union_all, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from keybearer.base.clock import Clock
from keybearer.base.errors import ConfigurationError
from keybearer.store.locks import Lock, take_lock
from keybearer.store.sealing.envelope import KeyName, SealingKey, WrappedKey, key_id_of, key_name
from keybearer.store.sealing.keyring import Keyring, data_key_identity, server_key_identity
from keybearer.store.tables.keys import DataKeyRow, KeyHolderRow, RootKeyRow, ServerKeyRow

__all__ = ["RootKeyRecord", "RootKeyState", "RootKeyring", "key_name_column"]

_NAME_AT, _NAME_BYTES = 2, 20
"""Where an envelope names its key (see `sealing.envelope`), counted from 1."""


class RootKeyState(StrEnum):
    """What a root key is to the database."""

    ACTIVE = "active"
    RETIRING = "retiring"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class RootKeyRecord:
    """A root key that wrapped here at some time; `wraps` counts what it still wraps."""

    id: str
    state: RootKeyState
    activated_at: datetime
    retired_at: datetime | None
    wraps: int


def key_name_column(envelope: Any) -> Any:  # noqa: ANN401 - a column, before and after
    """Return the name of the key in a column of envelopes."""
    return func.substr(envelope, _NAME_AT, _NAME_BYTES)


class RootKeyring:
    """The root keys as the database knows them."""

    def __init__(self, connection: AsyncConnection, keyring: Keyring | None, clock: Clock) -> None:
        self._connection = connection
        self._keyring_or_none = keyring
        self._clock = clock

    @property
    def _keyring(self) -> Keyring:
        if self._keyring_or_none is None:
            raise ConfigurationError("the database is not unlocked yet")
        return self._keyring_or_none

    async def queue(self) -> None:
        """Wait for other processes that decide about root keys; until the unit ends they wait for this one."""
        await take_lock(self._connection, Lock.ROOT_KEYS)

    async def active(self) -> SealingKey:
        """Return the root key that wraps; on a database without one it is, from now on, the first that was given.

        Raises:
            ConfigurationError: this process doesn't hold it.
        """
        statement = select(RootKeyRow.id).where(RootKeyRow.state == RootKeyState.ACTIVE)
        found = (await self._connection.execute(statement.with_for_update(read=True))).scalar_one_or_none()
        roots = self._keyring.roots
        if found is None:
            await self._add(roots.first)
            return roots.first
        return roots.named(key_name(UUID(found), 1))

    async def activate(self, root: SealingKey) -> None:
        """Have this root key wrap from now on, and the former one only open. `queue` was called before."""
        await self._connection.execute(
            update(RootKeyRow)
            .where(RootKeyRow.state == RootKeyState.ACTIVE)
            .values(state=RootKeyState.RETIRING)
        )
        await self._add(root)

    async def known(self) -> dict[str, RootKeyState]:
        """Return the state of each root key that wrapped here at some time, by its id."""
        rows = await self._connection.execute(select(RootKeyRow.id, RootKeyRow.state))
        return {row.id: RootKeyState(row.state) for row in rows}

    async def records(self) -> list[RootKeyRecord]:
        """Return the same with what they still wrap, the latest first."""
        wraps = await self._wraps()
        statement = select(
            RootKeyRow.id, RootKeyRow.state, RootKeyRow.activated_at, RootKeyRow.retired_at
        ).order_by(RootKeyRow.activated_at.desc(), RootKeyRow.id)
        return [
            RootKeyRecord(
                row.id, RootKeyState(row.state), row.activated_at, row.retired_at, wraps.get(row.id, 0)
            )
            for row in await self._connection.execute(statement)
        ]

    async def require_openable(self) -> None:
        """Let pass a database whose every wrapped key can be opened by a root key that this process holds.

        Raises:
            ConfigurationError: some were wrapped by one that was not given; names it.
        """
        for root_id in await self._wraps():
            self._keyring.roots.named(key_name(UUID(root_id), 1))

    async def rewrap(self, limit: int) -> int:
        """Wrap anew what another than the active root key wrapped, so many at most; return how many that were.

        Once nothing is left, those that were retiring are retired.
        """
        root = await self.active()
        done = await self._rewrap_server_keys(root, limit)
        done += await self._rewrap_data_keys(root, limit - done)
        if done == 0 and set(await self._wraps()) <= {str(key_id_of(root.name))}:
            await self._connection.execute(
                update(RootKeyRow)
                .where(RootKeyRow.state == RootKeyState.RETIRING)
                .values(state=RootKeyState.RETIRED, retired_at=self._clock.now())
            )
        return done

    async def hold(self, process_id: str, roots: Iterable[SealingKey], now: datetime) -> None:
        """Say that the process lives and holds these root keys, and no others."""
        await self.leave(process_id)
        rows = [
            {
                "process_id": process_id,
                "root_key_id": str(key_id_of(root.name)),
                "seen_at": now,
                "keeps_marks": True,
            }
            for root in roots
        ]
        await self._connection.execute(insert(KeyHolderRow), rows)

    async def leave(self, process_id: str) -> None:
        """Say that the process is gone."""
        await self._connection.execute(delete(KeyHolderRow).where(KeyHolderRow.process_id == process_id))

    async def forget_holders(self, *, before: datetime | None = None) -> None:
        """Forget the processes that didn't say that they live since then; all of them without an instant."""
        statement = delete(KeyHolderRow)
        if before is not None:
            statement = statement.where(KeyHolderRow.seen_at < before)
        await self._connection.execute(statement)

    async def processes(self, *, lacking: KeyName | None = None) -> int:
        """Return how many processes there are; `lacking`: how many that don't hold this root key."""
        if lacking is None:
            return await self._processes()
        holders = select(KeyHolderRow.process_id).where(KeyHolderRow.root_key_id == str(key_id_of(lacking)))
        return await self._processes(KeyHolderRow.process_id.not_in(holders))

    async def processes_without_marks(self) -> int:
        """Return how many processes are of an earlier version, which keeps no sums of marks."""
        return await self._processes(~KeyHolderRow.keeps_marks)

    async def _processes(self, *conditions: ColumnElement[bool]) -> int:
        statement = select(func.count(KeyHolderRow.process_id.distinct())).where(*conditions)
        count: int = (await self._connection.execute(statement)).scalar_one()
        return count

    async def _add(self, root: SealingKey) -> None:
        await self._connection.execute(
            insert(RootKeyRow).values(
                id=str(key_id_of(root.name)), state=RootKeyState.ACTIVE, activated_at=self._clock.now()
            )
        )

    async def _wraps(self) -> dict[str, int]:
        """Return how many keys each root key wraps, by its id."""
        names = union_all(
            select(key_name_column(ServerKeyRow.wrapped).label("name")),
            select(key_name_column(DataKeyRow.wrapped).label("name")),
        ).subquery()
        rows = await self._connection.execute(
            select(names.c.name, func.count().label("wrapped")).group_by(names.c.name)
        )
        return {str(key_id_of(KeyName(bytes(row.name)))): row.wrapped for row in rows}

    async def _rewrap_server_keys(self, root: SealingKey, limit: int) -> int:
        statement = select(ServerKeyRow.name, ServerKeyRow.id, ServerKeyRow.wrapped)
        rows = await self._others(statement, ServerKeyRow.wrapped, root, limit)
        for row in rows:
            identity = server_key_identity(row.name)
            key = self._keyring.roots.unwrap(WrappedKey(row.wrapped), key_name(UUID(row.id), 1), identity)
            await self._connection.execute(
                update(ServerKeyRow)
                .where(ServerKeyRow.name == row.name)
                .values(wrapped=root.wrap(key, identity))
            )
        return len(rows)

    async def _rewrap_data_keys(self, root: SealingKey, limit: int) -> int:
        statement = select(DataKeyRow.id, DataKeyRow.version, DataKeyRow.wrapped, DataKeyRow.project_id)
        rows = await self._others(statement, DataKeyRow.wrapped, root, limit)
        for row in rows:
            identity = data_key_identity(row.project_id)
            name = key_name(UUID(row.id), row.version)
            key = self._keyring.roots.unwrap(WrappedKey(row.wrapped), name, identity)
            await self._connection.execute(
                update(DataKeyRow).where(DataKeyRow.id == row.id).values(wrapped=root.wrap(key, identity))
            )
        return len(rows)

    async def _others(
        self,
        statement: Select[*tuple[Any, ...]],
        wrapped: InstrumentedAttribute[bytes],
        root: SealingKey,
        limit: int,
    ) -> Sequence[Any]:
        # What another process is wrapping at this moment is left to it.
        condition = key_name_column(wrapped) != literal(bytes(root.name))
        statement = statement.where(condition).limit(limit).with_for_update(skip_locked=True)
        return (await self._connection.execute(statement)).all()
