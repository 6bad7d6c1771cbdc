"""JSON web tokens (RFC 7519) that an RSA key signs: with these a program proves to a remote who it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from keybearer.pki.errors import MalformedError

__all__ = ["signed_token"]


def signed_token(
    claims: Mapping[str, str | datetime], private_key: str, headers: Mapping[str, str] | None = None
) -> str:
    """Return the token, signed with RS256 (RFC 7518 section 3.3).

    Args:
        claims: `iat`, `exp` and `nbf` may be instants; they become seconds since 1970.
        private_key: in PEM.
        headers: beside those that say how it is signed, such as the key's id.

    Raises:
        MalformedError: the key is no RSA key in PEM without a password; the text holds nothing of it.
    """
    # Models are imported together with what signs for them; only who signs needs these.
    import jwt  # noqa: PLC0415
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(private_key.encode(), None)
    except (UnsupportedAlgorithm, TypeError, ValueError):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise MalformedError("that is no RSA key in PEM without a password")
    return jwt.encode(dict(claims), key, algorithm="RS256", headers=dict(headers or {}))
