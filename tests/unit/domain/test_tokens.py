from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import jwt
import pytest

from keybearer.base.ids import IdentityId
from keybearer.domain.errors import UnauthenticatedError
from keybearer.domain.tokens import TokenClaims, read_token, sign_token
from keybearer.store.records import AccessToken
from support.rows import each_row

KEY = b"k" * 32
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TOKEN = AccessToken(
    id="t",
    identity_id=IdentityId("i"),
    auth_method="universal-auth",
    client_secret_id="c",
    ttl=100,
    max_ttl=1000,
    period=0,
    num_uses=0,
    num_uses_limit=0,
    trusted_ips=(),
    created_at=NOW,
    renewed_at=None,
    expires_at=NOW + timedelta(seconds=100),
)


def test_a_signed_token_reads_back() -> None:
    assert read_token(KEY, sign_token(KEY, TOKEN, NOW)) == TokenClaims("t", "i", TOKEN.expires_at)


def test_a_token_holds_the_published_claims() -> None:
    claims = jwt.decode(sign_token(KEY, TOKEN, NOW), options={"verify_signature": False})
    assert claims == {
        "identityId": "i",
        "clientSecretId": "c",
        "identityAccessTokenId": "t",
        "authTokenType": "identityAccessToken",
        "iat": int(NOW.timestamp()),
        "exp": int(NOW.timestamp()) + 100,
    }


def test_a_token_without_end_has_no_exp() -> None:
    text = sign_token(KEY, replace(TOKEN, expires_at=None), NOW)
    assert "exp" not in jwt.decode(text, options={"verify_signature": False})
    assert read_token(KEY, text).expires_at is None


def unsigned() -> str:
    return jwt.encode({"identityId": "i", "identityAccessTokenId": "t"}, "", algorithm="none")


def of_another_kind() -> str:
    claims = {"identityId": "i", "identityAccessTokenId": "t", "authTokenType": "user"}
    return jwt.encode(claims, KEY, algorithm="HS256")


def of_strange_claims() -> str:
    claims = {"identityId": ["i"], "identityAccessTokenId": 7, "authTokenType": "identityAccessToken"}
    return jwt.encode(claims, KEY, algorithm="HS256")


@each_row(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("cnry-not-a-token", id="no token at all"),
        pytest.param("a.b.c", id="three parts of nothing"),
        pytest.param("é.é.é", id="letters that no token has"),
        pytest.param("x" * 10_000, id="too long"),
        pytest.param(sign_token(b"z" * 32, TOKEN, NOW), id="signed with another key"),
        pytest.param(unsigned(), id="not signed"),
        pytest.param(of_another_kind(), id="a token for something else"),
        pytest.param(of_strange_claims(), id="claims of other types"),
        pytest.param(jwt.encode({"a": 1}, KEY * 2, algorithm="HS512"), id="another algorithm"),
    ],
)
def test_a_text_that_is_no_token_of_ours_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(UnauthenticatedError) as refused:
        read_token(KEY, text)
    assert refused.value.name == "TokenError"
    assert not text or text not in str(refused.value)
