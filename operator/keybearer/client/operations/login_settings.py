"""What the ways of identities to log in have in common: the terms of the tokens that a login gives (wire.md 1.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Response
from keybearer.client.operation import Operation
from keybearer.wire.token_terms import TrustedIp

__all__ = ["ClearedLockouts", "LockoutTerms", "TokenTerms", "given"]


@from_wire
@dataclass(frozen=True, slots=True)
class _ClearedLockoutsAnswer:
    """`{deleted}`."""

    deleted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTerms:
    """Of the tokens that a login gives.

    Attributes:
        access_token_ttl, access_token_max_ttl, access_token_period: seconds; 0 for no end.
        access_token_num_uses_limit: 0 for no limit.
        access_token_trusted_ips: addresses or ranges; everywhere by default.
    """

    access_token_ttl: int | None = None
    access_token_max_ttl: int | None = None
    access_token_num_uses_limit: int | None = None
    access_token_period: int | None = None
    access_token_trusted_ips: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockoutTerms(TokenTerms):
    """Of ways to log in that are closed for a while after failures, beside those of the tokens."""

    lockout_enabled: bool | None = None
    lockout_threshold: int | None = None
    lockout_duration_seconds: int | None = None
    lockout_counter_reset_seconds: int | None = None


class ClearedLockouts(Operation[int]):
    """What an operation that ends lockouts returns."""

    __slots__ = ()

    def read(self, response: Response) -> int:
        """Return how many lockouts ended."""
        return decode(response, _ClearedLockoutsAnswer).deleted


def given(settings: TokenTerms) -> dict[str, Any]:
    """Return the settings of an identity that are given, as the models of the wire take them."""
    pairs = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return {
        name: _ranges(value) if name.endswith("_trusted_ips") else value
        for name, value in pairs.items()
        if value is not None and name != "identity_id"
    }


def _ranges(addresses: Iterable[str]) -> list[TrustedIp]:
    return [TrustedIp(ip_address=address) for address in addresses]
