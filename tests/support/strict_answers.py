"""Holds every answer of the service against the documents; for the event hook of a test's HTTP client."""

from __future__ import annotations

from typing import Any

import httpx

from support.strict_shapes import ERRORS, SECRET_LIST, shape_of

__all__ = ["check_answer"]

_MASK = "<hidden-by-infisical>"
_NO_JSON = frozenset(
    {
        "application/ocsp-response",
        "application/pkix-cert",
        "application/pkix-crl",
        "text/plain; charset=utf-8",
    }
)
"""What only routes of certificates answer, and no error comes as."""


def check_answer(response: httpx.Response) -> None:
    """Fail with a field's name if the answer differs from the documents in kind, number or type of fields.

    Raises:
        AssertionError, pydantic.ValidationError: it does.
    """
    kind = response.headers.get("content-type", "")
    request = response.request
    path = request.url.raw_path.decode().partition("?")[0]
    if not path.startswith("/api/") or kind.startswith(("text/event-stream", "text/html")):
        return
    response.read()
    # What may hold a secret is kept by nobody on the way; public things say themselves how long they are good.
    assert "cache-control" in response.headers
    assert kind != "application/json" or response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
    if request.method == "HEAD":
        assert not response.content
        return
    if response.status_code == 304:
        assert not response.content
        assert response.headers["etag"]
        return
    if response.status_code == 200 and kind in _NO_JSON:
        assert path.startswith("/api/v1/cert-manager/")
        return
    if response.status_code == 200 and path.endswith("/private-key"):
        # The one answer of the interface that is a text.
        assert kind.startswith("text/plain")
        assert response.text.startswith("-----BEGIN PRIVATE KEY-----\n")
        return
    assert kind == "application/json"
    if response.status_code >= 400:
        shape = ERRORS[response.status_code]
        shape.model_validate_json(response.content)
        return
    assert response.status_code == 200
    found = shape_of(request.method, path.rstrip("/"))
    assert found is not None, f"write down what {request.method} {path} answers, in strict_shapes.py"
    found.model_validate_json(response.content)
    answer = response.json()
    if found is SECRET_LIST:
        assert response.headers["etag"]
        assert _keys(answer["secrets"]) == sorted(_keys(answer["secrets"]))
        for secret in [*answer["secrets"], *(s for block in answer["imports"] for s in block["secrets"])]:
            _check_secret(secret)
    if "secret" in answer:
        _check_secret(answer["secret"])


def _keys(secrets: list[dict[str, Any]]) -> list[str]:
    return [secret["secretKey"] for secret in secrets]


def _check_secret(secret: dict[str, Any]) -> None:
    assert secret["id"] == secret["_id"]
    assert secret.get("projectId", secret["workspace"]) == secret["workspace"]
    assert not secret["secretValueHidden"] or secret["secretValue"] == _MASK
    assert (secret["type"] == "personal") == ("user" in secret)
