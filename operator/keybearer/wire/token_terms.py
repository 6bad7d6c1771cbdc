"""What all methods of identities to log in share: the tokens that a login gives, and lockouts (wire.md section 1)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.wire.base import WHOLE, Flag, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.limits import TOKEN_TTL_MAX_SECONDS

__all__ = [
    "ChangedLockingTerms",
    "ChangedTokenTerms",
    "Count",
    "LockingTerms",
    "Seconds",
    "TokenTerms",
    "TrustedIp",
    "TrustedIps",
    "everywhere",
]

Seconds = Annotated[int, Field(ge=0, le=TOKEN_TTL_MAX_SECONDS), WHOLE, Zero.COUNTS]
Count = Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE, Zero.COUNTS]
# wire.md section 1.2 bounds lockouts. Who says 0 means none at all, and is not to believe that there is none.
_Threshold = Annotated[int, Field(ge=1, le=30), WHOLE, Zero.COUNTS]
_Duration = Annotated[int, Field(ge=30, le=86_400), WHOLE, Zero.COUNTS]
_CounterReset = Annotated[int, Field(ge=5, le=3600), WHOLE, Zero.COUNTS]


class TrustedIp(WireModel):
    """An address or a range from which a credential may be used."""

    ip_address: Annotated[str, Field(min_length=1, max_length=64)]


TrustedIps = Annotated[list[TrustedIp], Field(min_length=1, max_length=100)]


def everywhere() -> list[TrustedIp]:
    """Return all addresses, which is what holds where none are given."""
    return [TrustedIp(ip_address="0.0.0.0/0"), TrustedIp(ip_address="::/0")]


class TokenTerms(BodyModel):
    """Of the tokens that a login gives: durations in seconds, 0 without end or limit."""

    access_token_trusted_ips: TrustedIps = Field(default_factory=everywhere)
    access_token_ttl: Annotated[Seconds, Field(alias="accessTokenTTL")] = 2_592_000
    access_token_max_ttl: Annotated[Seconds, Field(alias="accessTokenMaxTTL")] = 2_592_000
    access_token_num_uses_limit: Count = 0
    access_token_period: Seconds = 0


class ChangedTokenTerms(BodyModel):
    """What is absent stays."""

    access_token_trusted_ips: TrustedIps | None = None
    access_token_ttl: Annotated[Seconds | None, Field(alias="accessTokenTTL")] = None
    access_token_max_ttl: Annotated[Seconds | None, Field(alias="accessTokenMaxTTL")] = None
    access_token_num_uses_limit: Count | None = None
    access_token_period: Seconds | None = None


class LockingTerms(TokenTerms):
    """Of a method that is locked for a while after failures; durations in seconds."""

    lockout_enabled: Flag = True
    lockout_threshold: _Threshold = 3
    lockout_duration_seconds: _Duration = 300
    lockout_counter_reset_seconds: _CounterReset = 30


class ChangedLockingTerms(ChangedTokenTerms):
    """What is absent stays."""

    lockout_enabled: Flag | None = None
    lockout_threshold: _Threshold | None = None
    lockout_duration_seconds: _Duration | None = None
    lockout_counter_reset_seconds: _CounterReset | None = None
