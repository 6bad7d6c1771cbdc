"""Errors of the service become errors of the client, and repeat nothing they should not."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.errors import KeybearerError
from keybearer.client.errors import (
    BadRequest,
    ClientClosed,
    ClientError,
    DecodeError,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerFailure,
    ServiceError,
    TransportError,
    Unauthenticated,
    ValidationFailed,
)
from keybearer.client.messages import Request, Response
from keybearer.client.refusals import is_token_refused, refusal_of, retry_after_of
from support.rows import each_row

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
REQUEST = Request("POST", "/api/v4/secrets/DB")


def refusal(
    status: int, body: object = None, confidential: tuple[str, ...] = (), **headers: str
) -> ServiceError:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    lower = {name.replace("_", "-"): value for name, value in headers.items()}
    return refusal_of(Response(status, lower, raw), REQUEST, confidential, NOW)


def error_body(status: int, error: str, message: object, **more: object) -> dict[str, object]:
    return {"reqId": "req-1", "statusCode": status, "message": message, "error": error, **more}


@each_row(
    ("status", "kind", "is_retryable"),
    [
        pytest.param(400, BadRequest, False, id="400"),
        pytest.param(401, Unauthenticated, False, id="401"),
        pytest.param(403, PermissionDenied, False, id="403"),
        pytest.param(404, NotFound, False, id="404"),
        pytest.param(409, ServiceError, False, id="409, of no class of its own"),
        pytest.param(422, ValidationFailed, False, id="422"),
        pytest.param(429, RateLimited, True, id="429"),
        pytest.param(500, ServerFailure, True, id="500"),
        pytest.param(503, ServerFailure, True, id="503"),
        pytest.param(504, ServerFailure, True, id="504"),
        pytest.param(599, ServerFailure, True, id="599, which has no name"),
    ],
)
def test_each_status_has_its_error(status: int, kind: type[ServiceError], is_retryable: bool) -> None:  # noqa: FBT001 - a column
    error = refusal(status, error_body(status, "Word", "No.", details=[{"a": 1}]))
    assert type(error) is kind
    assert error.is_retryable is is_retryable
    assert (error.status, error.error, error.request_id, error.message) == (status, "Word", "req-1", "No.")
    assert error.details == [{"a": 1}]
    assert str(error) == f"No. (POST /api/v4/secrets/DB, status {status}, Word, request req-1)"


def test_an_expired_token_in_the_form_of_published_servers_is_no_lack_of_rights() -> None:
    body = error_body(403, "TokenError", "Your token has expired. Please re-authenticate.")
    assert type(refusal(403, body)) is Unauthenticated
    assert is_token_refused(Response(403, {}, orjson.dumps(body)))
    assert is_token_refused(Response(401, {}, b""))
    assert not is_token_refused(Response(403, {}, orjson.dumps(error_body(403, "PermissionDenied", "no"))))


def test_issues_of_a_422_are_shown_by_path_and_sentence_alone() -> None:
    issues = [
        {
            "code": "too_small",
            "path": ["body", "secrets", 0, "secretKey"],
            "message": "Too short",
            "received": "cnry-a",
        },
        {"code": "x", "path": [], "message": "Odd", "input": "cnry-b"},
        {"code": "x", "path": ["body", {"cnry-c": 1}], "message": None},
        "cnry-d",
    ]
    error = refusal(422, error_body(422, "ValidationFailure", issues))
    assert error.message == "body.secrets.0.secretKey: Too short; request: Odd; body: not valid"


def test_of_many_issues_the_first_ten_are_shown() -> None:
    issues = [{"path": [str(number)], "message": "no"} for number in range(12)]
    assert refusal(422, error_body(422, "V", issues)).message.endswith("9: no; and 2 more")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"<html>cnry-page</html>", "Bad Gateway", id="a proxy's page"),
        pytest.param(b"", "Bad Gateway", id="nothing"),
        pytest.param(b'"cnry-text"', "Bad Gateway", id="a text"),
        pytest.param(b"[]", "Bad Gateway", id="a list"),
        pytest.param(
            b'{"message": {"cnry-a": 1}, "error": 3, "reqId": []}', "Bad Gateway", id="fields of other types"
        ),
        pytest.param(b"[" * 100_000, "Bad Gateway", id="a very deep body"),
        pytest.param(b'{"message": "' + b"x" * 300_000 + b'"}', "Bad Gateway", id="a very long body"),
        pytest.param(b'{"message": "a\\nb\\u001b[31m"}', "a b [31m", id="control characters"),
    ],
)
def test_bodies_of_others_are_not_trusted(body: bytes, message: str) -> None:
    error = refusal(502, body)
    assert error.message == message
    assert "cnry-" not in f"{error!r} {error}"


def test_a_long_message_is_cut() -> None:
    assert len(refusal(400, error_body(400, "x" * 5000, "y" * 5000)).message) == 1003


def test_what_the_service_repeats_of_our_secrets_is_blanked_out_everywhere() -> None:
    value = 'cnry-"quoted"\nvalue'
    body = error_body(
        400,
        f"Bad {value}",
        f"can't take {value}",
        reqId=f"req-{value}",
        details={"input": {value: [value, {"deep": f"<{value}>"}]}, "n": 1},
    )
    error = refusal(400, body, (value, "abc"))
    assert "cnry-" not in f"{error!r} {error} {error.details} {error.error} {error.request_id}"
    assert error.message == "can't take ***"
    assert error.details == {"input": {"***": ["***", {"deep": "<***>"}]}, "n": 1}


def test_of_texts_that_begin_alike_the_longest_is_blanked_out_first() -> None:
    error = refusal(
        400, error_body(400, "x", "no cnry-token-and-more"), ("cnry-token", "cnry-token-and-more")
    )
    assert error.message == "no ***"


def test_very_deep_details_are_cut_off() -> None:
    deep: object = "cnry-bottom"
    for _ in range(50):
        deep = [deep]
    assert "cnry-" not in repr(refusal(400, error_body(400, "x", "y", details=deep)).details)


def test_a_redirect_says_where_to_but_not_more() -> None:
    error = refusal(302, b"", location="https://login.example.com/path?token=cnry-t")
    assert "https://login.example.com;" in error.message
    assert "cnry-" not in str(error)
    assert "redirects are not followed" in refusal(308, b"").message


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        pytest.param("7", timedelta(seconds=7), id="seconds"),
        pytest.param("0", timedelta(), id="at once"),
        pytest.param("Sun, 01 Mar 2026 12:00:30 GMT", timedelta(seconds=30), id="a date"),
        pytest.param("Sun, 01 Mar 2026 11:00:00 GMT", timedelta(), id="a date that has passed"),
        pytest.param("", None, id="nothing"),
        pytest.param("soon", None, id="a word"),
        pytest.param("-1", None, id="a negative number"),
        pytest.param("nan", None, id="no number"),
        pytest.param("1e300", None, id="more than a lifetime"),
    ],
)
def test_the_wait_that_is_asked_for_is_read(text: str, wait: timedelta | None) -> None:
    assert retry_after_of(Response(429, {"retry-after": text}, b""), NOW) == wait
    assert refusal(429, b"", retry_after=text).retry_after == wait


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        pytest.param(429, {"x-ratelimit-reset": "12"}, 12, id="the end of the window"),
        pytest.param(429, {"x-ratelimit-reset": "12", "retry-after": "3"}, 3, id="both: the one that asks"),
        pytest.param(429, {"x-ratelimit-reset": "soon"}, None, id="no number"),
        pytest.param(
            503, {"x-ratelimit-reset": "12"}, None, id="another status, of whose wait it says nothing"
        ),
        pytest.param(429, {}, None, id="neither"),
    ],
)
def test_the_end_of_a_rate_limits_window_is_waited_for(
    status: int, headers: dict[str, str], seconds: int | None
) -> None:
    wait = retry_after_of(Response(status, headers, b""), NOW)
    assert wait == (None if seconds is None else timedelta(seconds=seconds))


@given(st.text(max_size=40))
def test_no_text_of_a_retry_after_breaks_the_reading(text: str) -> None:
    wait = retry_after_of(Response(429, {"retry-after": text}, b""), NOW)
    assert wait is None or wait >= timedelta()


@given(st.binary(max_size=200))
def test_no_body_breaks_the_making_of_an_error(body: bytes) -> None:
    assert refusal(500, body).status == 500


@pytest.mark.parametrize(
    "error",
    [
        InvalidArgument("a"),
        ClientClosed("b"),
        TransportError("c", sent=True, is_retryable=False),
        DecodeError("d"),
        NotFound("e", status=404, error="NotFound", request_id="r", details={"x": 1}, asked="GET /x"),
        RateLimited("f", status=429, retry_after=timedelta(seconds=3)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_can_be_copied_and_sent_to_other_processes(error: ClientError) -> None:
    assert isinstance(error, KeybearerError)
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own bytes
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)
