"""Universal Auth: its configuration, client secrets, and the tokens that were signed."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import IdentityId
from keybearer.store.columns import select_record
from keybearer.store.records import AccessToken, ClientSecret, GrantedTerms, UniversalAuth
from keybearer.store.tables.auth_methods import KubernetesAuthRow, LdapAuthRow
from keybearer.store.tables.identities import AccessTokenRow, ClientSecretRow, UniversalAuthRow

__all__ = ["Credentials"]

_AUTHS = select_record(UniversalAuthRow, UniversalAuth)
_SECRETS = select_record(ClientSecretRow, ClientSecret)
_TOKENS = select_record(AccessTokenRow, AccessToken)
_TERMS = {
    method: select(
        row.access_token_ttl,
        row.access_token_max_ttl,
        row.access_token_period,
        row.access_token_num_uses_limit,
        row.access_token_trusted_ips,
    ).where(row.identity_id == bindparam("identity"))
    for method, row in (
        ("universal-auth", UniversalAuthRow),
        ("kubernetes-auth", KubernetesAuthRow),
        ("ldap-auth", LdapAuthRow),
    )
}
# Each login, and each first use of a token, asks for these: their statements are built once.
# SQLite has one writer anyway, and ignores the lock.
_AUTH_OF_CLIENT = _AUTHS.where(UniversalAuthRow.client_id == bindparam("client")).with_for_update()
_SECRETS_OF_IDENTITY = _SECRETS.where(ClientSecretRow.identity_id == bindparam("identity")).order_by(
    ClientSecretRow.created_at, ClientSecretRow.id
)
_USABLE_SECRETS = _SECRETS_OF_IDENTITY.where(ClientSecretRow.revoked.is_(False))
_COUNT_USE = (
    update(ClientSecretRow)
    .where(ClientSecretRow.id == bindparam("secret"))
    .values(num_uses=ClientSecretRow.num_uses + 1, last_used_at=bindparam("now"))
)
_ADD_TOKEN = insert(AccessTokenRow)
_TOKEN = _TOKENS.where(AccessTokenRow.id == bindparam("token"))
_PRUNE_TOKENS = delete(AccessTokenRow).where(AccessTokenRow.expires_at < bindparam("now"))


class Credentials:
    """Repository of how identities authenticate."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def put_universal_auth(self, auth: UniversalAuth) -> None:
        """Store the configuration, replacing what the identity had."""
        await self.delete_universal_auth(auth.identity_id)
        await self._connection.execute(insert(UniversalAuthRow).values(asdict(auth)))

    async def update_universal_auth(self, auth: UniversalAuth) -> None:
        """Store the present configuration; who waits for its row finds it."""
        await self._connection.execute(
            update(UniversalAuthRow)
            .where(UniversalAuthRow.identity_id == auth.identity_id)
            .values(asdict(auth))
        )

    async def universal_auth(
        self, identity_id: IdentityId, *, for_change: bool = False
    ) -> UniversalAuth | None:
        """Return the identity's configuration, or None; for a change it is kept from other writers."""
        statement = _AUTHS.where(UniversalAuthRow.identity_id == identity_id)
        if for_change:
            statement = statement.with_for_update()
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else UniversalAuth(*row)

    async def universal_auth_of_client(self, client_id: str) -> UniversalAuth | None:
        """Return the configuration with that client id, or None, and keep it from other writers.

        Logins take turns at it: else two of them would count as one failure, or as one use of a secret.
        """
        row = (await self._connection.execute(_AUTH_OF_CLIENT, {"client": client_id})).one_or_none()
        return None if row is None else UniversalAuth(*row)

    async def delete_universal_auth(self, identity_id: IdentityId) -> None:
        """Remove the configuration; its client secrets stay until they are revoked."""
        await self._connection.execute(
            delete(UniversalAuthRow).where(UniversalAuthRow.identity_id == identity_id)
        )

    async def add_client_secret(self, secret: ClientSecret) -> None:
        """Store a new client secret."""
        await self._connection.execute(insert(ClientSecretRow).values(asdict(secret)))

    async def client_secrets(
        self, identity_id: IdentityId, *, usable_only: bool = False
    ) -> list[ClientSecret]:
        """Return the identity's client secrets, oldest first; without the revoked ones if asked."""
        statement = _USABLE_SECRETS if usable_only else _SECRETS_OF_IDENTITY
        rows = await self._connection.execute(statement, {"identity": identity_id})
        return [ClientSecret(*row) for row in rows]

    async def client_secret(self, identity_id: IdentityId, secret_id: str) -> ClientSecret | None:
        """Return one client secret of the identity, or None."""
        statement = _SECRETS.where(
            ClientSecretRow.id == secret_id, ClientSecretRow.identity_id == identity_id
        )
        row = (await self._connection.execute(statement)).one_or_none()
        return None if row is None else ClientSecret(*row)

    async def revoke_client_secret(self, secret_id: str, now: datetime) -> None:
        """Mark the client secret revoked; see `delete_tokens_of_client_secret` for the tokens it gave."""
        await self._connection.execute(
            update(ClientSecretRow)
            .where(ClientSecretRow.id == secret_id)
            .values(revoked=True, updated_at=now)
        )

    async def delete_tokens_of_client_secret(self, secret_id: str) -> list[str]:
        """Forget the tokens that logins with this client secret gave, and return their ids."""
        statement = (
            delete(AccessTokenRow)
            .where(AccessTokenRow.client_secret_id == secret_id)
            .returning(AccessTokenRow.id)
        )
        return list((await self._connection.execute(statement)).scalars())

    async def count_use(self, secret_id: str, now: datetime) -> None:
        """Count one login with the client secret."""
        await self._connection.execute(_COUNT_USE, {"secret": secret_id, "now": now})

    async def add_token(self, token: AccessToken) -> None:
        """Remember a token that was signed."""
        await self._connection.execute(_ADD_TOKEN, asdict(token))

    async def token(self, token_id: str, *, for_change: bool = False) -> AccessToken | None:
        """Return a token as remembered, or None when revoked; for a change it is kept from other writers."""
        statement = _TOKEN.with_for_update() if for_change else _TOKEN
        row = (await self._connection.execute(statement, {"token": token_id})).one_or_none()
        return None if row is None else AccessToken(*row)

    async def granted_terms(self, identity_id: IdentityId, auth_method: str) -> GrantedTerms | None:
        """Return what the identity's way to log in grants at present; None for one that has no terms to be set."""
        if auth_method not in _TERMS:
            return None
        terms = await self._connection.execute(_TERMS[auth_method], {"identity": identity_id})
        row = terms.one_or_none()
        return None if row is None else GrantedTerms(*row)

    async def renew_token(self, token_id: str, *, renewed_at: datetime, expires_at: datetime | None) -> None:
        """Store the token's new lifetime."""
        await self._connection.execute(
            update(AccessTokenRow)
            .where(AccessTokenRow.id == token_id)
            .values(renewed_at=renewed_at, expires_at=expires_at)
        )

    async def count_token_use(self, token_id: str) -> None:
        """Count one use of the token."""
        await self._connection.execute(
            update(AccessTokenRow)
            .where(AccessTokenRow.id == token_id)
            .values(num_uses=AccessTokenRow.num_uses + 1)
        )

    async def delete_token(self, token_id: str) -> bool:
        """Forget the token, which revokes it; return whether it was known."""
        result = await self._connection.execute(
            delete(AccessTokenRow).where(AccessTokenRow.id == token_id).returning(AccessTokenRow.id)
        )
        return result.first() is not None

    async def delete_tokens_of(self, identity_id: IdentityId) -> list[str]:
        """Forget all tokens of the identity and return their ids."""
        result = await self._connection.execute(
            delete(AccessTokenRow)
            .where(AccessTokenRow.identity_id == identity_id)
            .returning(AccessTokenRow.id)
        )
        return list(result.scalars())

    async def delete_tokens_of_method(self, identity_id: IdentityId, auth_method: str) -> list[str]:
        """Forget the tokens that the identity got by this way to log in, and return their ids."""
        statement = (
            delete(AccessTokenRow)
            .where(AccessTokenRow.identity_id == identity_id, AccessTokenRow.auth_method == auth_method)
            .returning(AccessTokenRow.id)
        )
        return list((await self._connection.execute(statement)).scalars())

    async def prune_tokens(self, now: datetime) -> None:
        """Forget tokens whose lifetime is over."""
        await self._connection.execute(_PRUNE_TOKENS, {"now": now})
