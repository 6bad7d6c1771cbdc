"""Routes of the table, served: what a request may be like, and what is answered to the others.

The framework served these requests before, and still serves those of other routes: both answer the same.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from keybearer.domain.errors import InvalidError, UnauthenticatedError
from keybearer.interface.route import Route, body_of
from keybearer.interface.shapes import OrOlder, Shape, Within
from keybearer.server.answers import json_response
from keybearer.server.auth import OpenRoute
from keybearer.server.errors import add_error_handlers
from keybearer.server.request_scope import RequestShell
from keybearer.server.routing import new_router
from keybearer.server.table_routes import served, served_by
from keybearer.server.writing import View
from keybearer.wire.limits import OPEN_BODY_MAX_BYTES
from support.rows import each_row


@dataclass(frozen=True, slots=True)
class PaintFence:
    """Paint a fence."""

    fence_id: str
    color: Annotated[str, Field(max_length=3)]
    coats: int = field(default=1, kw_only=True)


_GATE = Within("gate", "Gate", "The part of a fence that opens.")


@dataclass(frozen=True, slots=True)
class HangGate:
    """Hang a gate, into a fence that is named by either word."""

    fence_id: Annotated[str, OrOlder("paling_id", missing="Missing project id or environment")]
    color: Annotated[str, Field(max_length=3), _GATE]
    bars: Annotated[tuple[int, ...], _GATE] = ()


@dataclass(frozen=True, slots=True)
class LookAtFence:
    """Look at a fence."""

    fence_id: str
    from_side: Annotated[str, Field(max_length=5)] = "front"


@dataclass(frozen=True, slots=True)
class Fence(Shape):
    """A fence."""

    fence_id: str
    color: str
    coats: int


@dataclass(frozen=True)
class Painted:
    fence_id: str
    color: str
    coats: int


PAINT = Route("POST", ("/fences/{fence_id}",), PaintFence, Fence, "Fences", "Paint a fence", is_open=True)
LOOK = Route("GET", ("/fences/{fence_id}",), LookAtFence, Fence, "Fences", "Look at a fence")
HANG = Route("PUT", ("/gates",), HangGate, Fence, "Fences", "Hang a gate", is_open=True)
VIEW = View(Fence, Painted)


async def paint(_: Request, command: PaintFence) -> Painted:
    if command.color == "no":
        raise InvalidError("This color is taken")
    return Painted(command.fence_id, command.color, command.coats)


async def hang(_: Request, command: HangGate) -> Painted:
    assert isinstance(command.bars, tuple)
    return Painted(command.fence_id, command.color, sum(command.bars))


class Household:
    """Stands in for the context: knows one token, and what was settled."""

    def __init__(self) -> None:
        self.settled = 0
        self.authentication = self.audit = self.fences = self

    async def authenticate(self, bearer: str | None, _: str | None) -> str:
        if bearer != "cnry-token":
            raise UnauthenticatedError("Token missing")
        return "somebody"

    async def settle(self) -> None:
        self.settled += 1

    def refused(self, _: object) -> None: ...

    async def look(self, principal: str, command: LookAtFence) -> Painted:
        return Painted(command.fence_id, f"{principal}, {command.from_side}", 0)


router = new_router("Fences", OpenRoute)
BODY: Any = body_of(PAINT)


@router.post("/framework/{fence_id}")
async def painted_by_framework(request: Request, fence_id: str, body: BODY) -> Response:
    made = await paint(request, PaintFence(fence_id, body.color, coats=body.coats))
    return json_response({"fenceId": made.fence_id, "color": made.color, "coats": made.coats})


@pytest.fixture
def household() -> Household:
    return Household()


@pytest.fixture
async def client(household: Household) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI(openapi_url=None)
    app.state.context = household
    looking: Any = lambda context: context.fences.look  # noqa: E731 - the household is no context for type checkers
    app.router.routes.extend(
        [
            *served_by(PAINT, VIEW, paint),
            *served_by(HANG, VIEW, hang),
            *served(LOOK, VIEW, looking),
            *router.routes,
        ]
    )
    add_error_handlers(app)
    transport = httpx.ASGITransport(RequestShell(app), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as asked:
        yield asked


TOKEN = {"authorization": "Bearer cnry-token"}
JSON = {"content-type": "application/json"}
REQUESTS: dict[str, tuple[bytes, dict[str, str]]] = {
    "a body": (b'{"color":"red","coats":2,"more":null}', JSON),
    "a default": (b'{"color":"red"}', JSON),
    "no type": (b'{"color":"red"}', {}),
    "another type of JSON": (b'{"color":"red"}', {"content-type": "application/problem+json; charset=utf-8"}),
    "another type": (b'{"color":"red"}', {"content-type": "text/plain"}),
    "a type that is none": (b'{"color":"red"}', {"content-type": "json"}),
    "no body": (b"", JSON),
    "null": (b"null", JSON),
    "a list": (b'[{"color":"red"}]', JSON),
    "a text": (b'"color"', JSON),
    "too long": (b'{"color":"green"}', JSON),
    "two mistakes": (b'{"color":1,"coats":"many"}', JSON),
    "something missing": (b"{}", JSON),
    "given twice": (b'{"color":"green","color":"red"}', JSON),
    "half of a pair": (b'{"color":"\\ud800"}', JSON),
    "no JSON": (b'{"color":', JSON),
    "no UTF-8": (b'{"color":"\xff"}', JSON),
    "a number of many digits": (b'{"coats":' + b"1" * 5000 + b"}", JSON),
    "depth": (b"[" * 50_000, JSON),
    "a refusal of the domain": (b'{"color":"no"}', JSON),
    "too much": (b'{"color":"' + b"r" * OPEN_BODY_MAX_BYTES + b'"}', JSON),
}


@each_row("name", REQUESTS)
async def test_a_request_is_answered_as_by_the_framework(client: httpx.AsyncClient, name: str) -> None:
    content, headers = REQUESTS[name]
    ours, theirs = [
        await client.post(path, content=content, headers=headers)
        for path in ("/fences/f%201", "/framework/f%201")
    ]
    assert ours.status_code == theirs.status_code
    assert without_id(ours) == without_id(theirs)
    assert ours.headers["content-type"] == theirs.headers["content-type"]


def without_id(answer: httpx.Response) -> dict[str, Any]:
    body: dict[str, Any] = answer.json()
    return {name: value for name, value in body.items() if name != "reqId"}


async def test_the_path_and_the_body_make_the_command(client: httpx.AsyncClient) -> None:
    answer = await client.post("/fences/f%201", json={"color": "red"})
    assert (answer.status_code, answer.json()) == (200, {"fenceId": "f 1", "color": "red", "coats": 1})


async def test_parts_of_the_body_and_either_word_make_the_command(client: httpx.AsyncClient) -> None:
    gate = {"color": "red", "bars": [1, 2]}
    for named in (
        {"fenceId": "f"},
        {"palingId": "f"},
        {"fenceId": "", "palingId": "f"},
        {"fenceId": "f", "palingId": "g"},
    ):
        answer = await client.put("/gates", json={"gate": gate, **named})
        assert (answer.status_code, answer.json()) == (200, {"fenceId": "f", "color": "red", "coats": 3})
    unnamed = await client.put("/gates", json={"gate": gate})
    assert (unnamed.status_code, unnamed.json()["message"]) == (400, "Missing project id or environment")
    refused = await client.put("/gates", json={"fenceId": "f", "gate": {"color": "green"}})
    assert (refused.status_code, refused.json()["message"][0]["path"]) == (422, ["gate", "color"])


async def test_who_asks_is_known_first_and_lines_of_the_audit_log_are_settled(
    client: httpx.AsyncClient, household: Household
) -> None:
    assert (await client.get("/fences/f")).status_code == 401
    answer = await client.get("/fences/f", headers=TOKEN)
    assert answer.json() == {"fenceId": "f", "color": "somebody, front", "coats": 0}
    assert household.settled == 1


async def test_fields_of_a_get_come_from_the_query(client: httpx.AsyncClient) -> None:
    answer = await client.get("/fences/f?fromSide=back", headers=TOKEN)
    assert answer.json()["color"] == "somebody, back"
    refused = await client.get("/fences/f?fromSide=beneath", headers=TOKEN)
    assert (refused.status_code, refused.json()["message"][0]["path"]) == (422, ["fromSide"])


async def test_a_head_is_answered_as_the_get_without_its_body(client: httpx.AsyncClient) -> None:
    read = await client.get("/fences/f", headers=TOKEN)
    asked = await client.head("/fences/f", headers=TOKEN)
    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers["content-length"] == str(len(read.content))


async def test_no_other_method_is_known(client: httpx.AsyncClient) -> None:
    for method in ("PUT", "OPTIONS"):
        assert (await client.request(method, "/fences/f")).status_code == 404
