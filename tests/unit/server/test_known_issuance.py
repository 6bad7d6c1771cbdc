"""keybearer.server.known_issuance."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import httpx
import orjson
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keybearer.base.ids import IdentityId, OrganizationId, ProjectId
from keybearer.domain.authorization import Action, Principal, Subject, denied
from keybearer.domain.certificates.issuance import IssuedCertificate
from keybearer.domain.errors import InvalidError
from keybearer.server.known_issuance import KnownIssuance
from keybearer.server.request_scope import RequestShell
from keybearer.store.audit import AuditEvent
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.failures import BusyError, RaceError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from keybearer.domain.certificates.deciding import NewCertificate
    from keybearer.server.context import ServiceContext

PATH = "/api/v1/cert-manager/certificates"
TOKEN = "cnry-token"
WHO = Principal(IdentityId("i"), OrganizationId("o"), "member", 1, "t")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
WAITING = CertificateRequest(
    id="r",
    project_id=ProjectId("p"),
    profile_id=None,
    application_id=None,
    authority_id=None,
    certificate_id=None,
    renews_id=None,
    status="pending_approval",
    common_name=None,
    alt_names=None,
    asked={},
    csr=None,
    remove_roots_from_chain=False,
    requested_by=None,
    requester_name="",
    error_message=None,
    pending_message="wait",
    order_state=None,
    attempt=0,
    due_at=None,
    claimed_by=None,
    lease_ends_at=None,
    created_at=NOW,
    updated_at=NOW,
)
ASKED = {
    "profileId": str(uuid4()),
    "attributes": {"commonName": "a"},
    "metadata": [{"key": "k", "value": "v"}],
}

BODY = orjson.dumps(ASKED)


@dataclass
class Parts:
    """What of the context is looked at: who is known, what issuance says, and what the audit log takes."""

    outcomes: list[Exception] = field(default_factory=list)
    asked: list[NewCertificate] = field(default_factory=list)
    refusals: list[AuditEvent] = field(default_factory=list)
    settled: int = 0
    unwritable: bool = False

    def __post_init__(self) -> None:
        self.authentication = self.issuance = self.audit = self

    def known(self, text: str | None, _address: str | None) -> Principal | None:
        return WHO if text == TOKEN else None

    async def issue(self, principal: Principal, new: NewCertificate) -> IssuedCertificate:
        assert principal == WHO
        self.asked.append(new)
        if self.outcomes:
            raise self.outcomes.pop(0)
        return IssuedCertificate(replace(WAITING, id=str(len(self.asked))))

    def refused(self, event: AuditEvent) -> None:
        self.refusals.append(event)

    async def settle(self) -> None:
        self.settled += 1
        if self.unwritable:
            raise BusyError("full")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await Response(b"asked: " + body, 200)(scope, receive, send)


async def answered(
    parts: Parts,
    content: bytes | AsyncIterator[bytes] = BODY,
    *,
    method: str = "POST",
    path: str = PATH,
    **headers: str,
) -> httpx.Response:
    framework = FastAPI(openapi_url=None)
    framework.state.context = parts
    shell = RequestShell(
        KnownIssuance(
            application, framework, cast("ServiceContext", parts), {PATH: Route(PATH, lambda _: Response())}
        )
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(shell), base_url="http://service") as client:
        given = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"} | {
            name.replace("_", "-"): text for name, text in headers.items()
        }
        return await client.request(method, path, headers=given, content=content)


async def test_issuance_is_answered_without_the_application() -> None:
    parts = Parts()
    answer = await answered(parts)
    assert answer.json() == {
        "certificate": None,
        "certificateRequestId": "1",
        "status": "pending_approval",
        "message": "wait",
    }
    assert answer.headers["content-type"] == "application/json"
    assert parts.settled == 1
    [new] = parts.asked
    assert (new.profile_id, new.attributes.common_name, new.metadata) == (
        ASKED["profileId"],
        "a",
        (("k", "v"),),
    )


async def test_a_body_may_come_in_pieces() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(BODY), 10):
            yield BODY[start : start + 10]

    assert (await answered(Parts(), pieces())).json()["certificateRequestId"] == "1"


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"authorization": "Bearer cnry-other"}, id="another token"),
        pytest.param({"authorization": ""}, id="no token"),
        pytest.param({"content_type": "text/plain"}, id="no JSON"),
        pytest.param({"path": f"{PATH}/name"}, id="another route"),
        pytest.param({"method": "PUT"}, id="another method"),
        pytest.param({"content": b"{"}, id="damaged JSON"),
        pytest.param({"content": b"{}"}, id="no profile"),
        pytest.param({"content": b'{"profileId": "web"}'}, id="no id of a profile"),
        pytest.param({"content": b'{"profileId": "\xff"}'}, id="no UTF-8"),
        pytest.param({"content": b""}, id="no body"),
    ],
)
async def test_the_application_answers_all_else_and_has_the_whole_body(parts: dict[str, Any]) -> None:
    given = Parts()
    answer = await answered(given, **parts)
    assert answer.content == b"asked: " + parts.get("content", BODY)
    assert given.asked == []


async def test_a_refusal_is_answered_as_the_application_would_and_written_down() -> None:
    parts = Parts([denied(Action.ISSUE, Subject.CERTIFICATES)])
    answer = await answered(parts)
    assert (answer.status_code, answer.json()["error"]) == (403, "PermissionDenied")
    [event] = parts.refusals
    assert (event.actor.id, event.details["route"]) == ("i", PATH)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        pytest.param(InvalidError("no", details=["why"]), 400, id="a violated policy"),
        pytest.param(BusyError("busy"), 503, id="a busy database"),
        pytest.param(TimeoutError(), 504, id="the time of a request is over"),
        pytest.param(ZeroDivisionError("cnry-text"), 500, id="what nobody foresaw"),
    ],
)
async def test_an_error_is_answered_by_the_table_and_nothing_is_asked_for_twice(
    error: Exception, status: int
) -> None:
    parts = Parts([error])
    answer = await answered(parts)
    assert answer.status_code == answer.json()["statusCode"] == status
    assert len(parts.asked) == 1
    assert "cnry" not in answer.text


async def test_who_met_another_change_begins_anew() -> None:
    parts = Parts([RaceError("met")])
    assert (await answered(parts)).json()["certificateRequestId"] == "2"


async def test_nothing_is_answered_before_a_strict_audit_log_is_written() -> None:
    assert (await answered(Parts(unwritable=True))).status_code == 503
