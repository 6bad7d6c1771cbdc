"""Making access tokens, what every login ends with, and the terms they are judged by (wire.md section 1.2)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from keybearer.base.ids import IdentityId, new_uuid
from keybearer.domain.lifetimes import TokenTerms, on_present_terms, token_terms
from keybearer.domain.tokens import sign_token
from keybearer.store.records import AccessToken
from keybearer.store.unit import UnitOfWork

__all__ = ["IssuedToken", "TokenGrant", "end_tokens", "issue_token", "token_at_present"]


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """The answer of login and renew; seconds."""

    text: str = field(repr=False)
    terms: TokenTerms


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """What a login has earned; seconds, 0 means without end or unlimited."""

    identity_id: IdentityId
    auth_method: str
    ttl: int
    max_ttl: int
    trusted_ips: tuple[str, ...]
    period: int = 0
    num_uses_limit: int = 0
    client_secret_id: str | None = None


async def issue_token(unit: UnitOfWork, signing_key: bytes, grant: TokenGrant, now: datetime) -> IssuedToken:
    """Return a token that works from this unit's commit on."""
    token = AccessToken(
        id=new_uuid(),
        identity_id=grant.identity_id,
        auth_method=grant.auth_method,
        client_secret_id=grant.client_secret_id,
        ttl=grant.ttl,
        max_ttl=grant.max_ttl,
        period=grant.period,
        num_uses=0,
        num_uses_limit=grant.num_uses_limit,
        trusted_ips=grant.trusted_ips,
        created_at=now,
        renewed_at=None,
        expires_at=None,
    )
    terms = token_terms(token, now)
    token = replace(token, expires_at=terms.expires_at)
    await unit.credentials.prune_tokens(now)
    await unit.credentials.add_token(token)
    return IssuedToken(sign_token(signing_key, token, now), terms)


async def token_at_present(
    unit: UnitOfWork, token_id: str, *, for_change: bool = False
) -> AccessToken | None:
    """Return a token on the terms that its identity has now, or None when it is revoked.

    Whoever narrows the terms after an incident means the tokens that are out. Those of users, and of the setup of the
    instance, have no terms that could be set: they keep their own.
    """
    token = await unit.credentials.token(token_id, for_change=for_change)
    if token is None:
        return None
    terms = await unit.credentials.granted_terms(token.identity_id, token.auth_method)
    return token if terms is None else on_present_terms(token, terms)


async def end_tokens(unit: UnitOfWork, identity_id: IdentityId, auth_method: str) -> None:
    """Make all tokens worthless that the identity was given by this method."""
    for token_id in await unit.credentials.delete_tokens_of_method(identity_id, auth_method):
        unit.drop_token(token_id)
