"""Terms of Universal Auth and client secrets: pure making and changing (wire.md sections 1.2 and 1.4)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, new_uuid
from keybearer.domain.addresses import EVERY_ADDRESS, networks
from keybearer.domain.login_terms import given_fields, require_sensible_terms
from keybearer.store.records import ClientSecret, UniversalAuth

__all__ = [
    "IssuedClientSecret",
    "UniversalAuthChange",
    "UniversalAuthTerms",
    "changed_universal_auth",
    "credential_digest",
    "new_client_secret",
    "universal_auth_of",
]

_PREFIX_LENGTH = 4
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class UniversalAuthTerms:
    """What may be set of Universal Auth; seconds, with the defaults of wire.md section 1.2."""

    access_token_ttl: int = 2_592_000
    access_token_max_ttl: int = 2_592_000
    access_token_num_uses_limit: int = 0
    access_token_period: int = 0
    access_token_trusted_ips: tuple[str, ...] = EVERY_ADDRESS
    client_secret_trusted_ips: tuple[str, ...] = EVERY_ADDRESS
    lockout_enabled: bool = True
    lockout_threshold: int = 3
    lockout_duration_seconds: int = 300
    lockout_counter_reset_seconds: int = 30


@dataclass(frozen=True, slots=True)
class UniversalAuthChange:
    """What changes of Universal Auth; None leaves a field as it is."""

    access_token_ttl: int | None = None
    access_token_max_ttl: int | None = None
    access_token_num_uses_limit: int | None = None
    access_token_period: int | None = None
    access_token_trusted_ips: tuple[str, ...] | None = None
    client_secret_trusted_ips: tuple[str, ...] | None = None
    lockout_enabled: bool | None = None
    lockout_threshold: int | None = None
    lockout_duration_seconds: int | None = None
    lockout_counter_reset_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class IssuedClientSecret:
    """A client secret at the only moment its text is known."""

    text: str = field(repr=False)
    record: ClientSecret


def universal_auth_of(identity_id: IdentityId, terms: UniversalAuthTerms, clock: Clock) -> UniversalAuth:
    """Return a configuration on these terms, with a fresh client id.

    Raises:
        InvalidError: the TTL is over the max TTL, or a trusted address is none.
    """
    now = clock.now()
    auth = UniversalAuth(
        identity_id=identity_id,
        id=new_uuid(),
        client_id=new_uuid(),
        access_token_ttl=terms.access_token_ttl,
        access_token_max_ttl=terms.access_token_max_ttl,
        access_token_num_uses_limit=terms.access_token_num_uses_limit,
        access_token_period=terms.access_token_period,
        access_token_trusted_ips=networks(terms.access_token_trusted_ips),
        client_secret_trusted_ips=networks(terms.client_secret_trusted_ips),
        lockout_enabled=terms.lockout_enabled,
        lockout_threshold=terms.lockout_threshold,
        lockout_duration_seconds=terms.lockout_duration_seconds,
        lockout_counter_reset_seconds=terms.lockout_counter_reset_seconds,
        created_at=now,
        updated_at=now,
    )
    require_sensible_terms(auth)
    return auth


def new_client_secret(
    digest_key: bytes,
    identity_id: IdentityId,
    clock: Clock,
    *,
    description: str = "",
    ttl: int = 0,
    num_uses_limit: int = 0,
    chosen: str | None = None,
) -> IssuedClientSecret:
    """Return a client secret of 256 random bits, or the chosen one; the record keeps digest and prefix."""
    text = secrets.token_hex(_SECRET_BYTES) if chosen is None else chosen
    now = clock.now()
    record = ClientSecret(
        id=new_uuid(),
        identity_id=identity_id,
        description=description,
        prefix=text[:_PREFIX_LENGTH],
        digest=credential_digest(digest_key, text),
        num_uses=0,
        num_uses_limit=num_uses_limit,
        ttl=ttl,
        revoked=False,
        last_used_at=None,
        created_at=now,
        updated_at=now,
    )
    return IssuedClientSecret(text, record)


def changed_universal_auth(former: UniversalAuth, change: UniversalAuthChange, clock: Clock) -> UniversalAuth:
    """Return the configuration with what is given of the change; the client id stays.

    Raises:
        InvalidError: the TTL is over the max TTL, or a trusted address is none.
    """
    auth = replace(former, **given_fields(change), updated_at=clock.now())
    require_sensible_terms(auth)
    return auth


def credential_digest(key: bytes, credential: str) -> bytes:
    """Return what is kept of a client secret: with 256 random bits, a keyed digest needs no stretching."""
    return hmac.digest(key, credential.encode("utf-8", "surrogateescape"), hashlib.sha256)
