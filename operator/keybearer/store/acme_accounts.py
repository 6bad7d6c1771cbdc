"""Accounts at authorities elsewhere that speak ACME; their keys leave and enter sealed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import ProjectId
from keybearer.store.columns import select_record
from keybearer.store.project_seals import ACME_ACCOUNT_KEY, ACME_BINDING_SECRET, ProjectSeals
from keybearer.store.tables.certificate_authorities import AcmeAccountRow

__all__ = ["AcmeAccount", "AcmeAccounts", "OpenedAcmeAccount"]


@dataclass(frozen=True, slots=True)
class AcmeAccount:
    """An account, without its secrets; `url` None until the authority gave it one."""

    authority_id: str
    id: str
    project_id: ProjectId
    url: str | None
    eab_key_id: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class OpenedAcmeAccount:
    """An account with its key, and the secret that bound it to an account of another kind."""

    account: AcmeAccount
    private_key: bytes = field(repr=False)
    eab_secret: bytes | None = field(repr=False)


_ACCOUNTS = select_record(AcmeAccountRow, AcmeAccount)


class AcmeAccounts:
    """Repository of accounts at authorities elsewhere."""

    def __init__(self, connection: AsyncConnection, seals: ProjectSeals) -> None:
        self._connection = connection
        self._seals = seals

    async def put(self, opened: OpenedAcmeAccount) -> None:
        """Store the account of an authority, in place of the one before."""
        account = opened.account
        await self._connection.execute(
            delete(AcmeAccountRow).where(AcmeAccountRow.authority_id == account.authority_id)
        )
        values = {one.name: getattr(account, one.name) for one in fields(account)}
        place = (account.project_id, account.id)
        values["private_key"] = await self._seals.seal(ACME_ACCOUNT_KEY, *place, opened.private_key)
        values["eab_secret"] = (
            None
            if opened.eab_secret is None
            else await self._seals.seal(ACME_BINDING_SECRET, *place, opened.eab_secret)
        )
        await self._connection.execute(insert(AcmeAccountRow).values(values))

    async def get(self, authority_id: str) -> AcmeAccount | None:
        """Return the account of an authority without its secrets, or None."""
        row = (
            await self._connection.execute(_ACCOUNTS.where(AcmeAccountRow.authority_id == authority_id))
        ).one_or_none()
        return None if row is None else AcmeAccount(*row)

    async def opened(self, authority_id: str) -> OpenedAcmeAccount | None:
        """Return the account of an authority with its secrets, or None.

        Raises:
            UnsealError: they don't open; the database is damaged.
        """
        account = await self.get(authority_id)
        if account is None:
            return None
        statement = select(AcmeAccountRow.private_key, AcmeAccountRow.eab_secret).where(
            AcmeAccountRow.authority_id == authority_id
        )
        private_key, secret = (await self._connection.execute(statement)).one()
        place = (account.project_id, account.id)
        return OpenedAcmeAccount(
            account,
            await self._seals.open(ACME_ACCOUNT_KEY, *place, private_key),
            None if secret is None else await self._seals.open(ACME_BINDING_SECRET, *place, secret),
        )
