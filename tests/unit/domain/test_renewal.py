"""Why a token is not renewed: the three texts of wire.md section 1.3."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from keybearer.base.ids import IdentityId
from keybearer.domain.authentication import _require_renewable
from keybearer.domain.errors import UnauthenticatedError
from keybearer.store.records import AccessToken

_CREATED = datetime(2026, 3, 1, 12, tzinfo=UTC)


def token(*, ttl: int, max_ttl: int, period: int = 0, lives: int | None = None) -> AccessToken:
    return AccessToken(
        id="t",
        identity_id=IdentityId("i"),
        auth_method="universal-auth",
        client_secret_id=None,
        ttl=ttl,
        max_ttl=max_ttl,
        period=period,
        num_uses=0,
        num_uses_limit=0,
        trusted_ips=(),
        created_at=_CREATED,
        renewed_at=None,
        expires_at=None if lives is None else _CREATED + timedelta(seconds=lives),
    )


@pytest.mark.parametrize(
    ("held", "after", "refusal"),
    [
        pytest.param(token(ttl=100, max_ttl=1000, lives=100), 99, None, id="in time"),
        pytest.param(token(ttl=100, max_ttl=1000, lives=100), 100, "due to TTL expiration", id="too late"),
        pytest.param(token(ttl=100, max_ttl=50), 50, "due to Max TTL expiration", id="after all its time"),
        pytest.param(
            token(ttl=100, max_ttl=150, lives=100),
            51,
            "past its Max TTL expiration",
            id="beyond all its time",
        ),
        pytest.param(token(ttl=100, max_ttl=150, lives=100), 50, None, id="up to all its time"),
        pytest.param(token(ttl=0, max_ttl=0), 10**8, None, id="without end"),
        pytest.param(token(ttl=100, max_ttl=0, lives=100), 99, None, id="without a last end"),
        pytest.param(
            token(ttl=1, max_ttl=1, period=60, lives=60),
            59,
            None,
            id="periodic, whatever TTL and max TTL say",
        ),
        pytest.param(
            token(ttl=1, max_ttl=1, period=60, lives=60), 60, "due to TTL expiration", id="periodic, too late"
        ),
    ],
)
def test_a_renewal_is_refused_rather_than_shortened(
    held: AccessToken, after: int, refusal: str | None
) -> None:
    now = _CREATED + timedelta(seconds=after)
    if refusal is None:
        _require_renewable(held, now)
    else:
        with pytest.raises(UnauthenticatedError, match=f"Failed to renew MI access token {refusal}"):
            _require_renewable(held, now)
