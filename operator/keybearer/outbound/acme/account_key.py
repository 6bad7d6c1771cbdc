"""The key of an ACME account, its signatures and its thumbprint (RFC 8555 section 6.2, RFC 7638)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping

import orjson
from jwt.algorithms import ECAlgorithm
from jwt.api_jws import PyJWS

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.keys import load_private_key

__all__ = ["ACCOUNT_KEY", "AccountKey", "binding_secret", "encoded"]

ACCOUNT_KEY = KeyAlgorithm.EC_P256
"""The kind of account keys: every authority must take ES256 (RFC 8555 section 6.2)."""
_JWS = PyJWS()
_ES256 = ECAlgorithm(ECAlgorithm.SHA256)


class AccountKey:
    """An account's key; it is never shown.

    Args:
        kept: as it was stored.

    Raises:
        MalformedError: it can't be read.
    """

    def __init__(self, kept: bytes) -> None:
        self._pem = load_private_key(kept).pem()
        self.jwk: Mapping[str, str] = _named(self._pem)

    @property
    def thumbprint(self) -> str:
        """The thumbprint of the public key (RFC 7638)."""
        named = json.dumps(dict(self.jwk), separators=(",", ":"), sort_keys=True)
        return encoded(hashlib.sha256(named.encode()).digest())

    def key_authorization(self, token: str) -> str:
        """Return the key authorization of a challenge (RFC 8555 section 8.1)."""
        return f"{token}.{self.thumbprint}"

    def signed(self, payload: bytes, *, url: str, nonce: str, account_url: str | None) -> bytes:
        """Return a request's body; without the account's URL it is signed with the key itself."""
        who: dict[str, object] = {"jwk": dict(self.jwk)} if account_url is None else {"kid": account_url}
        return _flattened(
            _JWS.encode(
                payload,
                self._pem,
                "ES256",
                headers={"typ": None, "nonce": nonce, "url": url, **who},
            )
        )

    def bound(self, secret: bytes, key_id: str, url: str) -> object:
        """Return the binding of the account to an external one (section 7.3.4)."""
        payload = orjson.dumps(dict(self.jwk))
        signed = _JWS.encode(payload, secret, "HS256", headers={"typ": None, "kid": key_id, "url": url})
        body: object = orjson.loads(_flattened(signed))
        return body


def encoded(content: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def binding_secret(text: str) -> bytes:
    """Return the secret of an external account binding, which authorities issue as base64url.

    Raises:
        ValueError: it is something else, or shorter than HS256 takes (RFC 7518 section 3.2).
    """
    plain = text.strip().rstrip("=")
    # Some authorities use the standard alphabet of base64.
    plain = plain.replace("+", "-").replace("/", "_")
    try:
        secret = base64.b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise ValueError("is not base64url") from None
    if len(secret) < 32:
        raise ValueError("is shorter than 32 bytes")
    return secret


def _named(pem: str) -> Mapping[str, str]:
    # The library names the private half as well, which stays behind.
    named = ECAlgorithm.to_jwk(_ES256.prepare_key(pem), as_dict=True)
    return {name: str(named[name]) for name in ("crv", "kty", "x", "y")}


def _flattened(compact: str) -> bytes:
    protected, payload, signature = compact.split(".")
    return orjson.dumps({"protected": protected, "payload": payload, "signature": signature})
