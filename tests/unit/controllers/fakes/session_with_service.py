"""A session in virtual time with a service that answers by path, and what both of them say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from keybearer.client import NO_RETRIES, AsyncKeybearer, ClientOptions, SuppliedToken, UniversalAuth
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.refused_logins import LoginTerms
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.service_session import ANSWER_MAX_BYTES, ServiceSession
from keybearer.controllers.sources.query import SourceQuery
from keybearer.controllers.sources.session import Listing, NotChanged, SourceFailure
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.virtual_loop import LoopClock

__all__ = [
    "EVENTS",
    "FOLDERS",
    "LIST",
    "LOGIN",
    "QUERY",
    "SLUG",
    "URL",
    "Answer",
    "Service",
    "failed",
    "found",
    "listed",
    "refused",
    "session",
    "wire",
]

URL = "https://keybearer.example.com"
QUERY = SourceQuery("shop-id", by_slug=False, environment="dev", path="/apps/web")
LIST, FOLDERS, LOGIN = "/api/v4/secrets", "/api/v2/folders", "/api/v1/auth/universal-auth/login"
SLUG = "/api/v1/projects/slug/shop"
EVENTS = "/api/v1/events/subscribe/project-events"
Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class Service:
    """Answers by path: each of the answers once, and the last for ever."""

    def __init__(self, **answers: Answer | list[Answer]) -> None:
        named = {"list": LIST, "folders": FOLDERS, "login": LOGIN, "slug": SLUG, "one": f"{LIST}/DB"}
        named["events"] = EVENTS
        self.answers = {
            named[name]: given if isinstance(given, list) else [given] for name, given in answers.items()
        }
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        answers = self.answers[request.url.path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    @property
    def paths(self) -> list[str]:
        return [request.url.path for request in self.seen]


@asynccontextmanager
async def session(
    service: Service,
    *,
    token: bool = True,
    locks: bool = True,
    rejected: Remedy | None = None,
    identity_id: str = "",
) -> AsyncIterator[ServiceSession]:
    clock, rng = LoopClock(), SteadyChance()
    options = ClientOptions(retry=NO_RETRIES, clock=clock, rng=rng, max_response_bytes=ANSWER_MAX_BYTES)
    credentials = SuppliedToken("cnry-token") if token else UniversalAuth("cnry-id", "cnry-secret")
    async with httpx.AsyncClient(transport=httpx.MockTransport(service)) as http:
        client = AsyncKeybearer(URL, credentials, options=options, http=http)
        terms = LoginTerms(rejected=rejected, locks=locks, identity=identity_id)
        yield ServiceSession("session", URL, client, clock, rng, terms)


def found(*secrets: dict[str, Any], etag: str | None = '"tag"', imports: Any = ()) -> httpx.Response:  # noqa: ANN401 - JSON
    headers = {} if etag is None else {"ETag": etag}
    return httpx.Response(200, headers=headers, json={"secrets": list(secrets), "imports": list(imports)})


def wire(key: str, value: str = "cnry-value", **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"id": key, "secretKey": key, "secretValue": value, "version": 3, **fields}


def refused(status: int, message: Any = "because", **extra: Any) -> httpx.Response:  # noqa: ANN401 - JSON
    return httpx.Response(status, json={"message": message, "error": "X", **extra})


def listed(answer: Listing | NotChanged | SourceFailure) -> tuple[SourceSecret, ...]:
    assert isinstance(answer, Listing), answer
    return answer.secrets


def failed(answer: Listing | NotChanged | SourceFailure | SourceSecret | None) -> SourceFailure:
    assert isinstance(answer, SourceFailure), answer
    assert "cnry" not in answer.message
    return answer
