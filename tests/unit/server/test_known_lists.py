"""keybearer.server.known_lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import httpx
import pytest
from starlette.responses import Response
from starlette.routing import Route

from keybearer.base.ids import IdentityId, OrganizationId
from keybearer.domain.authorization import Principal
from keybearer.domain.secrets.questions import Reached
from keybearer.server.known_lists import KnownLists
from keybearer.server.list_cache import ListCache, ListedAnswer
from keybearer.store.failures import BusyError, UnavailableError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from keybearer.server.context import ServiceContext
    from keybearer.store.database import Database

PATH = "/api/v4/secrets"
TOKEN = "cnry-token"
WHO = Principal(IdentityId("i"), OrganizationId("o"), "member", 1, "t")


@dataclass
class Parts:
    """What of the context is looked at: who is known, what is kept, and what the audit log takes."""

    stands: bool = True
    unavailable: bool = False
    unwritable: bool = False
    known_address: str = "testclient"
    settled: int = 0
    lists: ListCache = field(init=False)

    def __post_init__(self) -> None:
        self.lists = ListCache(cast("Database", self))
        self.authentication = self.audit = self

    def known(self, text: str | None, address: str | None) -> Principal | None:
        return WHO if (text, address) == (TOKEN, self.known_address) else None

    async def still_stand(self, _revisions: object) -> bool:
        if self.unavailable:
            raise UnavailableError("away")
        return self.stands

    async def settle(self) -> None:
        self.settled += 1
        if self.unwritable:
            raise BusyError("full")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await Response("asked", 200)(scope, receive, send)


async def asked(
    parts: Parts, method: str = "GET", path: str = f"{PATH}?a=1", **headers: str
) -> tuple[int, str]:
    shell = KnownLists(application, cast("ServiceContext", parts), {PATH: Route(PATH, lambda _: Response())})
    parts.lists.keep(ListCache.key(WHO, PATH, b"a=1"), ListedAnswer('"tag"', Reached(()), b"[1]"))
    transport = httpx.ASGITransport(shell, client=("testclient", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        given = {"authorization": f"Bearer {TOKEN}"} | {
            name.replace("_", "-"): text for name, text in headers.items()
        }
        response = await client.request(method, path, headers=given)
    return response.status_code, response.text


async def test_what_is_kept_is_answered_without_the_application() -> None:
    parts = Parts()
    assert await asked(parts) == (200, "[1]")
    assert parts.settled == 1


async def test_an_unchanged_list_is_answered_304() -> None:
    assert await asked(Parts(), if_none_match='"tag"') == (304, "")


@pytest.mark.parametrize(
    ("parts", "request_parts"),
    [
        pytest.param(Parts(stands=False), {}, id="a revision moved"),
        pytest.param(Parts(unavailable=True), {}, id="the database is away"),
        pytest.param(Parts(unwritable=True), {}, id="the audit log can't be written"),
        pytest.param(Parts(known_address="192.0.2.1"), {}, id="from another address"),
        pytest.param(Parts(), {"authorization": "Bearer cnry-other"}, id="another token"),
        pytest.param(Parts(), {"authorization": ""}, id="no token"),
        pytest.param(Parts(), {"path": f"{PATH}?a=2"}, id="another question"),
        pytest.param(Parts(), {"path": f"{PATH}/name?a=1"}, id="another route"),
        pytest.param(Parts(), {"method": "POST"}, id="another method"),
    ],
)
async def test_the_application_answers_all_else(parts: Parts, request_parts: dict[str, str]) -> None:
    assert await asked(parts, **request_parts) == (200, "asked")
