"""Asks an API server whose a ServiceAccount token is, by a TokenReview through the gate.

https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass

import orjson

from keybearer.base.json_reading import text_of
from keybearer.base.token_claims import claims_of
from keybearer.outbound.errors import OutboundFailedError
from keybearer.outbound.http import OutboundHttp
from keybearer.outbound.urls import OutboundUrl
from keybearer.wire.token_reviews import told_unbound

__all__ = ["ReviewedToken", "ReviewerUnboundError", "ReviewerUnknownError", "TokenReviews", "review_url"]

_PATH = "/apis/authentication.k8s.io/v1/tokenreviews"


class ReviewerUnknownError(OutboundFailedError):
    """The API server answers 401: it doesn't accept the reviewer's token."""


class ReviewerUnboundError(OutboundFailedError):
    """The API server answers 403: it knows the reviewer, who may not create TokenReviews."""


@dataclass(frozen=True, slots=True)
class ReviewedToken:
    """The API server's answer about a token.

    Attributes:
        authenticated: whether it is valid for the requested audience.
        username: `system:serviceaccount:NAMESPACE:NAME` of a ServiceAccount.
        audiences: those of the requested ones that the token is valid for.
    """

    authenticated: bool
    username: str = ""
    audiences: tuple[str, ...] = ()


class TokenReviews:
    """Asks API servers."""

    def __init__(self, http: OutboundHttp) -> None:
        self._http = http

    async def review(
        self, api: OutboundUrl, token: str, *, audience: str, reviewer: str, trusted: ssl.SSLContext
    ) -> ReviewedToken:
        """Return the API server's answer about a token.

        Args:
            api: URL of the API server.
            token: to review.
            audience: that the token must be valid for; empty for the API server's own.
            reviewer: bearer token of the reviewer.
            trusted: for TLS.

        Raises:
            OutboundRefusedError: the host may not be called.
            ReviewerUnknownError: the reviewer's token is not accepted.
            ReviewerUnboundError: the reviewer lacks the right; the message names its ServiceAccount.
            OutboundFailedError: there is no usable answer; the message says what to do.
        """
        spec: dict[str, object] = {"token": token}
        if audience:
            spec["audiences"] = [audience]
        body = orjson.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec})
        answer = await self._http.post_json(review_url(api), body, bearer=reviewer, trusted=trusted)
        match answer.status:
            case 200 | 201:
                return _read(answer.body)
            case 401:
                raise ReviewerUnknownError("the API server doesn't accept the reviewer's token")
            case 403:
                raise ReviewerUnboundError(told_unbound(_username(reviewer)))
            case status:
                raise OutboundFailedError(f"the API server answers {status}")


def review_url(api: OutboundUrl) -> OutboundUrl:
    """Return the URL of token reviews of an API server."""
    return OutboundUrl(api.scheme, api.host, api.port, f"{api.path}{_PATH}")


def _username(token: str) -> str:
    """Return under which name an API server knows who holds a ServiceAccount token; empty for another token."""
    try:
        return text_of(claims_of(token).get("sub"))
    except ValueError:
        return ""


def _read(body: bytes) -> ReviewedToken:
    try:
        review = orjson.loads(body)
    except orjson.JSONDecodeError:
        # Without the cause, which holds the answer.
        raise OutboundFailedError("the API server answers something that is no TokenReview") from None
    status = review.get("status") if isinstance(review, dict) else None
    if not isinstance(status, dict):
        raise OutboundFailedError("the API server answers something that is no TokenReview")
    if status.get("authenticated") is not True or status.get("error"):
        return ReviewedToken(authenticated=False)
    user, audiences = status.get("user"), status.get("audiences")
    username = user.get("username") if isinstance(user, dict) else None
    return ReviewedToken(
        authenticated=True,
        username=username if isinstance(username, str) else "",
        audiences=tuple(one for one in audiences if isinstance(one, str))
        if isinstance(audiences, list)
        else (),
    )
