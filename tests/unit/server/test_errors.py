from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Annotated

import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel, BeforeValidator, Field

from keybearer.domain.errors import (
    Denial,
    ForbiddenError,
    InvalidError,
    LimitReachedError,
    NotFoundError,
    SchemaViolationError,
    UnauthenticatedError,
)
from keybearer.server.body_bounds import LateBodyError, TooLargeBodyError
from keybearer.server.errors import BadRequestError, add_error_handlers
from keybearer.server.request_scope import RequestShell
from keybearer.store.audit import AuditEvent
from keybearer.store.failures import BusyError, RaceError, TooSlowError, UnavailableError, UnstorableTextError
from keybearer.store.sealing.envelope import AlteredDatabaseError, UnsealError


class Recorder:
    """Stands in for the audit trail, which is told of refusals."""

    def __init__(self) -> None:
        self.refusals: list[str] = []

    def refused(self, event: AuditEvent) -> None:
        self.refusals.append(event.event_type)


def client_of(raised: Callable[[], Exception], audit: Recorder | None = None) -> httpx.AsyncClient:
    app = FastAPI()
    app.state.context = SimpleNamespace(audit=audit or Recorder())

    @app.get("/fail")
    async def fail() -> None:
        raise raised()

    add_error_handlers(app)
    transport = httpx.ASGITransport(RequestShell(app), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://service")


async def test_the_audit_log_hears_of_who_may_not() -> None:
    audit = Recorder()
    async with client_of(lambda: ForbiddenError("m"), audit) as client:
        await client.get("/fail")
    assert audit.refusals == ["access-denied"]


TABLE = [
    pytest.param(lambda: UnauthenticatedError("m"), 401, "UnauthorizedError", "m", id="who is unknown"),
    pytest.param(
        lambda: UnauthenticatedError("m", name="TokenError"), 401, "TokenError", "m", id="a bad token"
    ),
    pytest.param(lambda: ForbiddenError("m"), 403, "PermissionDenied", "m", id="who may not"),
    pytest.param(lambda: NotFoundError("m"), 404, "NotFound", "m", id="what is not there"),
    pytest.param(
        lambda: NotFoundError("m", name="CreateSecret"), 404, "CreateSecret", "m", id="by its own name"
    ),
    pytest.param(lambda: InvalidError("m"), 400, "BadRequest", "m", id="against a rule"),
    pytest.param(lambda: BadRequestError("m"), 400, "BadRequest", "m", id="without sense"),
    pytest.param(lambda: UnstorableTextError("m"), 400, "BadRequest", "m", id="a text that can't be kept"),
    pytest.param(lambda: AlteredDatabaseError("m"), 400, "CryptographyError", "m", id="what others edited"),
    pytest.param(lambda: LimitReachedError("m"), 429, "RateLimitExceeded", "m", id="too much of it"),
    pytest.param(lambda: BusyError("m"), 503, "ServiceUnavailable", "m", id="no turn to write"),
    pytest.param(lambda: RaceError("m"), 503, "ServiceUnavailable", "m", id="changes that met"),
    pytest.param(lambda: UnavailableError("m"), 503, "ServiceUnavailable", "m", id="no database"),
    pytest.param(lambda: TooSlowError("m"), 504, "GatewayTimeoutError", "m", id="a slow database"),
    pytest.param(TimeoutError, 504, "GatewayTimeoutError", "The request took too long", id="too slow"),
    pytest.param(
        lambda: TooLargeBodyError(8388608),
        413,
        "PayloadTooLarge",
        "The body has more than 8388608 bytes",
        id="too large",
    ),
    pytest.param(
        lambda: LateBodyError(10), 408, "RequestTimeout", "The body did not come within 10 s", id="too late"
    ),
    pytest.param(
        lambda: UnsealError("cnry-in-an-error"),
        400,
        "CryptographyError",
        "A stored value can't be opened: the database is damaged, or of another service",
        id="a seal that doesn't open",
    ),
    pytest.param(
        lambda: ValueError("cnry-in-an-error"),
        500,
        "InternalServerError",
        "Something went wrong",
        id="unforeseen",
    ),
]


@pytest.mark.parametrize(("raised", "status", "word", "message"), TABLE)
async def test_each_error_has_one_answer(
    raised: Callable[[], Exception], status: int, word: str, message: str
) -> None:
    async with client_of(raised) as client:
        response = await client.get("/fail")
    assert response.status_code == status
    assert response.headers.get("retry-after") == ("1" if status == 503 else None)
    assert response.headers.get("connection") == ("close" if status == 408 else None)
    assert response.json() == {
        "reqId": response.headers["x-request-id"],
        "statusCode": status,
        "message": message,
        "error": word,
    }


@pytest.mark.parametrize("kind", [UnauthenticatedError, LimitReachedError])
async def test_who_may_come_again_is_told_when(
    kind: type[UnauthenticatedError | LimitReachedError],
) -> None:
    async with client_of(lambda: kind("m", retry_after=timedelta(seconds=12.5))) as client:
        assert (await client.get("/fail")).headers["retry-after"] == "13"


async def test_an_unforeseen_error_is_logged_by_kind_and_place_without_its_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with client_of(lambda: ValueError("cnry-in-an-error")) as client:
        response = await client.get("/fail")
    written = "".join(capsys.readouterr())
    assert response.json()["reqId"] in written
    assert "ValueError" in written
    assert "test_errors.py" in written
    assert "cnry" not in written


async def test_a_violation_found_by_the_domain_looks_like_one_of_the_schema() -> None:
    async with client_of(lambda: SchemaViolationError("bad", field="secretName")) as client:
        answer = (await client.get("/fail")).json()
    assert answer["message"] == [{"code": "custom", "path": ["secretName"], "message": "bad"}]


@pytest.mark.parametrize(
    ("error", "details"),
    [
        pytest.param(
            ForbiddenError("m", denial=Denial("read", "secrets", "dev", "/")),
            [
                {
                    "action": "read",
                    "inverted": False,
                    "subject": "secrets",
                    "conditions": {"environment": "dev", "secretPath": "/"},
                }
            ],
            id="a missing rule with its place",
        ),
        pytest.param(
            ForbiddenError("m", denial=Denial("create", "workspace")),
            [{"action": "create", "inverted": False, "subject": "workspace", "conditions": {}}],
            id="a missing rule without place",
        ),
        pytest.param(ForbiddenError("m", details=["one", "two"]), ["one", "two"], id="texts"),
    ],
)
async def test_refusals_carry_details(error: ForbiddenError, details: list[object]) -> None:
    async with client_of(lambda: error) as client:
        assert (await client.get("/fail")).json()["details"] == details


def _telling(_: object) -> object:
    msg = "our own words"
    raise ValueError(msg)


class Body(BaseModel):
    kind: Annotated[str, BeforeValidator(_telling)]


async def test_our_own_validators_speak_without_pydantics_prefix() -> None:
    app = FastAPI()

    @app.post("/take")
    async def take(body: Body) -> None: ...

    add_error_handlers(app)
    transport = httpx.ASGITransport(RequestShell(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        response = await client.post("/take", json={"kind": "cnry-kind"})
    assert response.status_code == 422
    assert response.json()["message"] == [
        {"code": "value_error", "path": ["kind"], "message": "our own words"}
    ]
    assert "cnry" not in response.text


class Lengths(BaseModel):
    slug: Annotated[str, BeforeValidator(lambda given: given), Field(min_length=5, max_length=8)]
    listed: list[str] = Field(default_factory=list, max_length=1)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"slug": "demo"}, "must have at least 5 characters"),
        ({"slug": "demonstration"}, "must have at most 8 characters"),
        (
            {"slug": "shop-1", "listed": ["a", "b"]},
            "must have at most 1 item",
        ),
    ],
)
async def test_lengths_of_texts_are_counted_in_characters(body: dict[str, object], told: str) -> None:
    app = FastAPI()

    @app.post("/take")
    async def take(body: Lengths) -> None: ...

    add_error_handlers(app)
    transport = httpx.ASGITransport(RequestShell(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        response = await client.post("/take", json=body)
    assert [issue["message"] for issue in response.json()["message"]] == [told]
