"""Which requests the dashboard answers."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from keybearer.cli.dashboard.gate import Gate, new_token

GATE = Gate("a-token", 4711)
OWN = {"Host": "127.0.0.1:4711"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "expected"),
    [
        pytest.param("GET", "/a-token/", OWN, "", id="the page"),
        pytest.param("HEAD", "/a-token/view/secrets", OWN, "view/secrets", id="an answer's head"),
        pytest.param("GET", "/a-token/", {"Host": "localhost:4711"}, "", id="by the name localhost"),
        pytest.param(
            "GET",
            "/a-token/changes",
            {**OWN, "Origin": "http://127.0.0.1:4711"},
            "changes",
            id="its own origin",
        ),
        pytest.param(
            "GET",
            "/a-token/",
            {**OWN, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
            "",
            id="a person follows a link to the page",
        ),
        pytest.param(
            "GET",
            "/a-token/view/secrets",
            {**OWN, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
            HTTPStatus.FORBIDDEN,
            id="another site leads to an answer",
        ),
        pytest.param(
            "GET",
            "/a-token/",
            {**OWN, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
            HTTPStatus.FORBIDDEN,
            id="another site embeds the page",
        ),
        pytest.param(
            "GET",
            "/a-token/",
            {**OWN, "Sec-Fetch-Site": "same-site"},
            "",
            id="a page on another port leads here",
        ),
        pytest.param("GET", "/a-token/", {}, HTTPStatus.FORBIDDEN, id="no host"),
        pytest.param("GET", "/a-token/", {"Host": "127.0.0.1"}, HTTPStatus.FORBIDDEN, id="no port"),
        pytest.param("GET", "/a-token/", {"Host": "127.0.0.1:4712"}, HTTPStatus.FORBIDDEN, id="another port"),
        pytest.param(
            "GET", "/a-token/", {"Host": "rebound.example:4711"}, HTTPStatus.FORBIDDEN, id="DNS rebinding"
        ),
        pytest.param(
            "GET",
            "/a-token/",
            {**OWN, "Origin": "http://evil.example"},
            HTTPStatus.FORBIDDEN,
            id="foreign origin",
        ),
        pytest.param("GET", "/a-token/", {**OWN, "Origin": "null"}, HTTPStatus.FORBIDDEN, id="opaque origin"),
        pytest.param(
            "GET",
            "/a-token/",
            {**OWN, "Origin": "http://localhost:4711"},
            HTTPStatus.FORBIDDEN,
            id="origin by its other name",
        ),
        pytest.param("POST", "/a-token/", OWN, HTTPStatus.METHOD_NOT_ALLOWED, id="POST"),
        pytest.param("OPTIONS", "/a-token/", OWN, HTTPStatus.METHOD_NOT_ALLOWED, id="OPTIONS"),
        pytest.param("GET", "/", OWN, HTTPStatus.NOT_FOUND, id="no token"),
        pytest.param("GET", "/a-toke/", OWN, HTTPStatus.NOT_FOUND, id="a shorter token"),
        pytest.param("GET", "/b-token/", OWN, HTTPStatus.NOT_FOUND, id="another token"),
        pytest.param("GET", "/a-tokén/", OWN, HTTPStatus.NOT_FOUND, id="a token that isn't ASCII"),
        pytest.param("GET", "/a-token\udcff/", OWN, HTTPStatus.NOT_FOUND, id="a token that isn't UTF-8"),
        pytest.param("GET", "/a-token", OWN, HTTPStatus.NOT_FOUND, id="the token without a slash"),
        pytest.param("GET", "//a-token/", OWN, HTTPStatus.NOT_FOUND, id="two slashes"),
    ],
)
def test_a_request_is_answered_or_refused(
    method: str, path: str, headers: dict[str, str], expected: str | HTTPStatus
) -> None:
    assert GATE.judge(method, path, headers) == expected


def test_tokens_differ_and_fit_into_an_address() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(one) >= 43 and one.replace("-", "").replace("_", "").isalnum() for one in tokens)
