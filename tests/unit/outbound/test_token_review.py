from __future__ import annotations

import base64
import ssl
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from keybearer.outbound.errors import OutboundFailedError
from keybearer.outbound.http import BODY_LIMIT_BYTES, OutboundAnswer, OutboundHttp
from keybearer.outbound.own_account import OwnAccount
from keybearer.outbound.token_review import (
    ReviewedToken,
    ReviewerUnboundError,
    ReviewerUnknownError,
    TokenReviews,
)
from keybearer.outbound.trust import trust
from keybearer.outbound.urls import OutboundUrl
from support.directory import loopback_gate

API = OutboundUrl("https", "api.example.com", 443, "/k8s/c-1")
WEB = "system:serviceaccount:shop:web"


class Http(OutboundHttp):
    """Answers so, whatever is asked."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(loopback_gate())
        self._answer = OutboundAnswer(status, body)
        self.sent: list[tuple[OutboundUrl, object, str]] = []

    async def post_json(
        self,
        url: OutboundUrl,
        body: bytes,
        *,
        bearer: str,
        trusted: ssl.SSLContext,
        timeout: timedelta = timedelta(seconds=10),  # noqa: ARG002, ASYNC109 - the method's signature
        limit_bytes: int = BODY_LIMIT_BYTES,
    ) -> OutboundAnswer:
        assert trusted.verify_mode is ssl.CERT_REQUIRED
        assert limit_bytes == BODY_LIMIT_BYTES
        self.sent.append((url, orjson.loads(body), bearer))
        return self._answer


async def review(http: Http, audience: str = "", reviewer: str = "cnry-reviewer") -> ReviewedToken:
    return await TokenReviews(http).review(
        API, "cnry-jwt", audience=audience, reviewer=reviewer, trusted=trust("")
    )


def answer(**status: object) -> bytes:
    return orjson.dumps({"kind": "TokenReview", "status": status})


async def test_a_review_asks_for_the_audience_and_below_the_path() -> None:
    http = Http(201, answer(authenticated=True, user={"username": WEB}, audiences=["kb", 7]))
    assert await review(http, "kb") == ReviewedToken(authenticated=True, username=WEB, audiences=("kb",))
    await review(http)
    (url, body, bearer), (_, without, _) = http.sent
    assert url.path == "/k8s/c-1/apis/authentication.k8s.io/v1/tokenreviews"
    assert isinstance(body, dict)
    assert isinstance(without, dict)
    assert body["spec"] == {"token": "cnry-jwt", "audiences": ["kb"]}
    assert without["spec"] == {"token": "cnry-jwt"}
    assert bearer == "cnry-reviewer"


@pytest.mark.parametrize(
    "body",
    [
        answer(authenticated=False, error="expired"),
        answer(),
        answer(authenticated="true", user={"username": WEB}),
        answer(authenticated=1, user={"username": WEB}),
        answer(authenticated=True, error="but", user={"username": WEB}),
    ],
)
async def test_only_a_plain_yes_is_one(body: bytes) -> None:
    assert await review(Http(201, body)) == ReviewedToken(authenticated=False)


@pytest.mark.parametrize(
    "status", [{"authenticated": True}, {"authenticated": True, "user": [], "audiences": "kb"}]
)
async def test_a_yes_without_a_name_names_nobody(status: dict[str, object]) -> None:
    reviewed = await review(Http(201, orjson.dumps({"status": status})))
    assert reviewed == ReviewedToken(authenticated=True)


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (201, b"", "no TokenReview"),
        (201, b"<html>cnry</html>", "no TokenReview"),
        (201, b"[]", "no TokenReview"),
        (201, b'{"status": 1}', "no TokenReview"),
        (201, b"[" * 60_000, "no TokenReview"),
        (302, b"cnry", "answers 302"),
        (403, b"cnry", "the reviewer may not create tokenreviews"),
        (404, b"cnry", "answers 404"),
        (500, b"cnry", "answers 500"),
    ],
)
async def test_other_answers_fail_and_are_not_repeated(status: int, body: bytes, message: str) -> None:
    with pytest.raises(OutboundFailedError, match=message) as failed:
        await review(Http(status, body))
    assert "cnry" not in str(failed.value)


async def test_a_reviewer_that_is_not_known_is_told_apart() -> None:
    with pytest.raises(ReviewerUnknownError):
        await review(Http(401, b""))


async def test_a_reviewer_without_the_right_is_named_as_its_token_says() -> None:
    claims = base64.urlsafe_b64encode(orjson.dumps({"sub": "system:serviceaccount:kube-system:reviewer"}))
    reviewer = f"cnry-head.{claims.decode().rstrip('=')}.cnry-signature"
    with pytest.raises(ReviewerUnboundError) as failed:
        await review(Http(403, b""), reviewer=reviewer)
    assert str(failed.value) == "the reviewer ServiceAccount kube-system/reviewer may not create tokenreviews"


async def test_the_own_account_is_read_anew_each_time(tmp_path: Path) -> None:
    own = OwnAccount(API, tmp_path)
    with pytest.raises(OutboundFailedError, match="can't be read"):
        await own.credentials()
    (tmp_path / "ca.crt").write_text("ca")
    for text in ("cnry-one", "cnry-two"):
        (tmp_path / "token").write_text(f"{text}\n")
        read = await own.credentials()
        assert (read.token, read.ca_pem) == (text, "ca")
        assert "cnry" not in repr(read)
