"""Access tokens as text: JWT (RFC 7519) signed with HMAC-SHA-256 and a key that only the service has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import jwt

from keybearer.domain.errors import UnauthenticatedError
from keybearer.store.records import AccessToken

__all__ = ["TokenClaims", "read_token", "sign_token"]

_KIND = "identityAccessToken"
_MAX_LENGTH = 8192
_MALFORMED = (
    "The provided access token is malformed. Please use a valid token or generate a new one and try again."
)


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What a token says of itself; the signature held."""

    token_id: str
    identity_id: str
    expires_at: datetime | None


def sign_token(key: bytes, token: AccessToken, now: datetime) -> str:
    """Return the token's text (wire.md section 1.1); `exp` is left out where it has no end."""
    claims: dict[str, str | int] = {
        "identityId": token.identity_id,
        "identityAccessTokenId": token.id,
        "authTokenType": _KIND,
        "iat": int(now.timestamp()),
    }
    if token.client_secret_id is not None:
        claims["clientSecretId"] = token.client_secret_id
    if token.expires_at is not None:
        claims["exp"] = int(token.expires_at.timestamp())
    return jwt.encode(claims, key, algorithm="HS256")


def read_token(key: bytes, text: str) -> TokenClaims:
    """Return the claims of a token that this service signed; whether it expired is the caller's to judge.

    Raises:
        UnauthenticatedError: it is malformed or another key signed it.
    """
    if len(text) > _MAX_LENGTH:
        raise UnauthenticatedError(_MALFORMED, name="TokenError")
    try:
        # The signature is compared in constant time by the library. Expiry is judged with our clock.
        claims = jwt.decode(
            text, key, algorithms=["HS256"], options={"verify_exp": False, "verify_iat": False}
        )
    except (jwt.InvalidTokenError, UnicodeError) as error:
        raise UnauthenticatedError(_MALFORMED, name="TokenError") from error
    token_id, identity_id = claims.get("identityAccessTokenId"), claims.get("identityId")
    if (
        claims.get("authTokenType") != _KIND
        or not isinstance(token_id, str)
        or not isinstance(identity_id, str)
    ):
        raise UnauthenticatedError(_MALFORMED, name="TokenError")
    expires = claims.get("exp")
    return TokenClaims(
        token_id, identity_id, datetime.fromtimestamp(expires, UTC) if isinstance(expires, int) else None
    )
