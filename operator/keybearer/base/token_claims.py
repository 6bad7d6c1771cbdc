"""Reads what a JSON Web Token says of itself (RFC 7519), without a check of its signature. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = ["claims_of", "end_of"]


def claims_of(token: str) -> Mapping[str, JsonValue]:
    """Return the claims of a token in the compact form (section 7.2), not verified.

    Raises:
        ValueError: it isn't such a token.
    """
    parts = token.split(".")
    if len(parts) != 3:
        raise ValueError("a JSON Web Token has three parts")
    match orjson.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))):
        case dict() as claims:
            return claims
        case _:
            raise ValueError("the claims of a JSON Web Token are an object")


def end_of(claims: Mapping[str, JsonValue]) -> datetime | None:
    """Return when a token ends (`exp`, section 4.1.4); None if it says no instant."""
    seconds = claims.get("exp")
    try:
        return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, (int, float)) else None
    except (ValueError, OverflowError, OSError):
        return None
