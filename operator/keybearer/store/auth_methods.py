"""Kubernetes and LDAP auth of identities. The credentials that the service shows to others are sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, literal, select, union_all, update
from sqlalchemy.ext.asyncio import AsyncConnection

from keybearer.base.ids import IdentityId
from keybearer.store.columns import select_record
from keybearer.store.keys import Keys
from keybearer.store.sealing.envelope import Ciphertext, Plaintext, associate, key_name_of
from keybearer.store.tables.auth_methods import KubernetesAuthRow, LdapAuthRow
from keybearer.store.tables.identities import UniversalAuthRow

__all__ = ["BIND_PASSWORD", "CREDENTIALS", "REVIEWER_TOKEN", "AuthMethods", "KubernetesAuth", "LdapAuth"]

CREDENTIALS = "auth methods"
"""The line of keys that seals them."""
REVIEWER_TOKEN, BIND_PASSWORD = "reviewer token", "bind password"
"""What each is bound to when it is sealed, beside its record."""


@dataclass(frozen=True, slots=True)
class KubernetesAuth:
    """Kubernetes auth of one identity; durations in seconds, 0 means without end or unlimited.

    Attributes:
        host: URL of the API server.
        ca_pem: whom to trust there; empty for the system's CAs.
        reviewer_token: who asks for reviews; None for the token that is reviewed itself.
        allowed_namespaces: globs parted by commas, empty for all; so are `allowed_names`.
        allowed_audience: that a token must be meant for; empty for the API server's own.
    """

    identity_id: IdentityId
    id: str
    host: str
    ca_pem: str
    reviewer_token: str | None = field(repr=False)
    allowed_namespaces: str
    allowed_names: str
    allowed_audience: str
    access_token_ttl: int
    access_token_max_ttl: int
    access_token_num_uses_limit: int
    access_token_period: int
    access_token_trusted_ips: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class LdapAuth:
    """LDAP auth of one identity; durations in seconds, 0 means without end or unlimited.

    Attributes:
        allowed_fields: attributes and the value, or values parted by commas, of which a user must have one.
    """

    identity_id: IdentityId
    id: str
    url: str
    bind_dn: str
    bind_password: str = field(repr=False)
    search_base: str
    search_filter: str
    ca_pem: str
    allowed_fields: tuple[tuple[str, str], ...]
    access_token_ttl: int
    access_token_max_ttl: int
    access_token_num_uses_limit: int
    access_token_period: int
    access_token_trusted_ips: tuple[str, ...]
    lockout_enabled: bool
    lockout_threshold: int
    lockout_duration_seconds: int
    lockout_counter_reset_seconds: int
    created_at: datetime
    updated_at: datetime


_KUBERNETES = select_record(KubernetesAuthRow, KubernetesAuth)
_LDAP = select_record(LdapAuthRow, LdapAuth)
_ROWS: Mapping[str, type[KubernetesAuthRow | LdapAuthRow | UniversalAuthRow]] = {
    "kubernetes-auth": KubernetesAuthRow,
    "ldap-auth": LdapAuthRow,
    "universal-auth": UniversalAuthRow,
}


class AuthMethods:
    """Repository of the ways to log in that ask somebody else."""

    def __init__(self, connection: AsyncConnection, keys: Keys) -> None:
        self._connection = connection
        self._keys = keys

    async def prepare(self) -> None:
        """Make the sealing key if there is none yet: those who read later can't."""
        await self._keys.active_in_line(CREDENTIALS)

    async def names(self, identity_id: IdentityId) -> tuple[str, ...]:
        """Return which methods the identity has, in the words of their paths, by name."""
        held = [
            select(literal(name)).select_from(row).where(row.identity_id == identity_id)
            for name, row in _ROWS.items()
        ]
        return tuple(sorted((await self._connection.execute(union_all(*held))).scalars()))

    async def kubernetes(self, identity_id: IdentityId, *, for_change: bool = False) -> KubernetesAuth | None:
        """Return the identity's configuration, or None; for a change it is kept from other writers.

        Raises:
            UnsealError: the reviewer's token doesn't open; the database is damaged.
        """
        statement = _KUBERNETES.where(KubernetesAuthRow.identity_id == identity_id)
        row = (
            await self._connection.execute(statement.with_for_update() if for_change else statement)
        ).one_or_none()
        if row is None:
            return None
        kept = KubernetesAuth(*row)
        sealed: Any = kept.reviewer_token
        opened = None if sealed is None else await self._open(REVIEWER_TOKEN, kept.id, sealed)
        return replace(kept, reviewer_token=opened)

    async def add_kubernetes(self, auth: KubernetesAuth) -> None:
        """Store a new configuration."""
        await self._connection.execute(insert(KubernetesAuthRow).values(await self._kubernetes_values(auth)))

    async def update_kubernetes(self, auth: KubernetesAuth) -> None:
        """Store the present configuration."""
        await self._connection.execute(
            update(KubernetesAuthRow)
            .where(KubernetesAuthRow.identity_id == auth.identity_id)
            .values(await self._kubernetes_values(auth))
        )

    async def delete_kubernetes(self, identity_id: IdentityId) -> None:
        """Remove the configuration."""
        await self._connection.execute(
            delete(KubernetesAuthRow).where(KubernetesAuthRow.identity_id == identity_id)
        )

    async def ldap(self, identity_id: IdentityId, *, for_change: bool = False) -> LdapAuth | None:
        """Return the identity's configuration, or None; for a change it is kept from other writers.

        Raises:
            UnsealError: the password doesn't open; the database is damaged.
        """
        statement = _LDAP.where(LdapAuthRow.identity_id == identity_id)
        row = (
            await self._connection.execute(statement.with_for_update() if for_change else statement)
        ).one_or_none()
        if row is None:
            return None
        kept = LdapAuth(*row)
        sealed: Any = kept.bind_password
        return replace(
            kept,
            bind_password=await self._open(BIND_PASSWORD, kept.id, sealed),
            allowed_fields=tuple((str(key), str(value)) for key, value in kept.allowed_fields),
        )

    async def add_ldap(self, auth: LdapAuth) -> None:
        """Store a new configuration."""
        await self._connection.execute(insert(LdapAuthRow).values(await self._ldap_values(auth)))

    async def update_ldap(self, auth: LdapAuth) -> None:
        """Store the present configuration."""
        await self._connection.execute(
            update(LdapAuthRow)
            .where(LdapAuthRow.identity_id == auth.identity_id)
            .values(await self._ldap_values(auth))
        )

    async def delete_ldap(self, identity_id: IdentityId) -> None:
        """Remove the configuration."""
        await self._connection.execute(delete(LdapAuthRow).where(LdapAuthRow.identity_id == identity_id))

    async def _kubernetes_values(self, auth: KubernetesAuth) -> dict[str, Any]:
        token = auth.reviewer_token
        sealed = None if token is None else await self._seal(REVIEWER_TOKEN, auth.id, token)
        return {**_values(auth), "reviewer_token": sealed}

    async def _ldap_values(self, auth: LdapAuth) -> dict[str, Any]:
        return {
            **_values(auth),
            "bind_password": await self._seal(BIND_PASSWORD, auth.id, auth.bind_password),
            "allowed_fields": [list(pair) for pair in auth.allowed_fields],
        }

    async def _seal(self, purpose: str, record_id: str, text: str) -> Ciphertext:
        key = await self._keys.active_in_line(CREDENTIALS)
        return key.seal(Plaintext(text.encode()), associate(purpose, record_id))

    async def _open(self, purpose: str, record_id: str, envelope: bytes) -> str:
        sealed = Ciphertext(envelope)
        key = await self._keys.opened_in_line(CREDENTIALS, key_name_of(sealed))
        return key.open(sealed, associate(purpose, record_id)).decode()


def _values(record: KubernetesAuth | LdapAuth) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)}
