"""What a JSON Web Token says of itself is read, and no text makes that fail otherwise than by ValueError."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from keybearer.base.token_claims import claims_of, end_of


def _token(claims: str) -> str:
    return f"e30.{base64.urlsafe_b64encode(claims.encode()).decode().rstrip('=')}.c2ln"


@pytest.mark.parametrize("claims", ['{"aud":["a"]}', '{"aud":["ab"]}', '{"aud":["abc"]}'])
def test_claims_are_read_whatever_their_length(claims: str) -> None:
    (aud,) = claims_of(f"{_token(claims)}\n").values()
    assert aud == [claims[9:-3]]


@pytest.mark.parametrize(
    "text",
    ["", "opaque", "a.b", "a.b.c.d", "a.é.c", "a.%%%.c", _token("[1]"), _token("{"), _token("[" * 5000)],
)
def test_what_is_no_token_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        claims_of(text)


@pytest.mark.parametrize(
    ("seconds", "end"),
    [
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (1_700_000_000.0, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (1 << 62, None),
        (-(1 << 62), None),
        ("soon", None),
        (None, None),
    ],
)
def test_the_end_is_an_instant_or_not_known(seconds: JsonValue, end: datetime | None) -> None:
    assert end_of({"exp": seconds}) == end
    assert end_of({}) is None
