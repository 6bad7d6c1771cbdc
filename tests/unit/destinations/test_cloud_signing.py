"""Signatures of the vendor's published test suite for Signature Version 4, and what a key shows of itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from keybearer.destinations.cloud_signing import CloudKey, Scope, sign

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
TOKEN = (
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7"
    "mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d"
    "+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
)
KEY = CloudKey("AKIDEXAMPLE", SECRET)
SCOPE = Scope("service", "us-east-1")
NOW = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
HOST = "https://example.amazonaws.com"


def authorization(
    method: str, path: str, headers: dict[str, str], content: str, *, key: CloudKey = KEY, now: datetime = NOW
) -> str:
    signed = sign(method, f"{HOST}{path}", headers, content.encode(), key=key, scope=SCOPE, now=now)
    return signed["Authorization"]


@pytest.mark.parametrize(
    ("method", "path", "headers", "content", "signature"),
    [
        ("GET", "/", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("GET", "", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", {}, "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "GET",
            "/?Param2=value2&Param1=value1",
            {},
            "",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            "POST",
            "/",
            {"Content-Type": "application/x-www-form-urlencoded"},
            "Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ],
    ids=[
        "get-vanilla",
        "no path",
        "post-vanilla",
        "get-vanilla-query-order-key-case",
        "post-x-www-form-urlencoded",
    ],
)
def test_a_request_has_the_published_signature(
    method: str, path: str, headers: dict[str, str], content: str, signature: str
) -> None:
    assert authorization(method, path, headers, content).endswith(f", Signature={signature}")


def test_a_session_token_is_signed_too() -> None:
    key = CloudKey("AKIDEXAMPLE", SECRET, TOKEN)
    assert authorization("POST", "/", {}, "", key=key) == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        "SignedHeaders=host;x-amz-date;x-amz-security-token, "
        "Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"
    )


def test_an_instant_of_another_zone_is_the_same_instant() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=5)))
    assert authorization("GET", "/", {}, "", now=there) == authorization("GET", "/", {}, "")


def test_a_key_shows_its_id_alone() -> None:
    assert repr(CloudKey("AKIA0", "cnry-secret", "cnry-token")) == "CloudKey(access_key_id='AKIA0')"
