"""Issuance is answered here, before the framework: its layers and its reading of a body cost more than a signature.

Who asks must be known from a moment ago, and the body must be what its form allows: else the application answers,
which says why not. What the domain decides is answered here, refusals by the application's own table of errors.
"""

from __future__ import annotations

import asyncio

import orjson
from fastapi import FastAPI
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keybearer.domain.authorization import Principal
from keybearer.domain.certificates.deciding import NewCertificate
from keybearer.server.answers import json_response
from keybearer.server.auth import REQUEST_SECONDS, address_of, bearer_of, remember_principal
from keybearer.server.certificate_rendering import issued_json
from keybearer.server.context import ServiceContext
from keybearer.server.errors import answer_to
from keybearer.store.attempts import repeated
from keybearer.wire.certificates.attributes import CertificateAttributes
from keybearer.wire.certificates.issuing import IssueCertificate

__all__ = ["KnownIssuance", "issued_answer"]

_NOTHING_SAID = CertificateAttributes()
_JSON = (b"content-type", b"application/json")


async def issued_answer(context: ServiceContext, principal: Principal, body: IssueCertificate) -> Response:
    """Return the answer to a request for a certificate, once what was issued is stored.

    Raises:
        DomainError: it is refused; see `Issuance.issue`.
    """
    new = NewCertificate(
        profile_id=str(body.profile_id),
        attributes=body.attributes or _NOTHING_SAID,
        csr=body.csr,
        application_id=None if body.application_id is None else str(body.application_id),
        remove_roots_from_chain=body.remove_roots_from_chain,
        metadata=tuple((pair.key, pair.value) for pair in body.metadata or ()),
    )
    return json_response(issued_json(await context.issuance.issue(principal, new)))


class KnownIssuance:
    """Stands before the application, within the bounds that hold for every request."""

    def __init__(
        self, inner: ASGIApp, application: FastAPI, context: ServiceContext, routes: dict[str, BaseRoute]
    ) -> None:
        """Take what stands behind it.

        Args:
            inner: what all else is handed to.
            application: whose errors are answered here.
            context: of the application.
            routes: of issuance, by their paths; each is a POST.
        """
        self._inner = inner
        self._application = application
        self._context = context
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request for a certificate, or hand it on."""
        route = None
        if scope["type"] == "http" and scope["method"] == "POST" and _JSON in scope["headers"]:
            route = self._routes.get(scope["path"])
        if route is None:
            await self._inner(scope, receive, send)
            return
        request = Request(scope, receive)
        principal = self._context.authentication.known(bearer_of(request), address_of(request))
        if principal is None:
            await self._inner(scope, receive, send)
            return
        remember_principal(request, principal)
        answer = await self._answer(request, route, principal)
        if isinstance(answer, Response):
            await answer(scope, receive, send)
        else:
            await self._inner(scope, receive if answer is None else _again(answer, receive), send)

    async def _answer(
        self, request: Request, route: BaseRoute, principal: Principal
    ) -> Response | bytes | None:
        """Return the answer; the body where it isn't of the form, None where the caller has gone."""
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                given = await request.body()
                body = _read(given)
                if body is None:
                    return given
                request.scope["route"] = route  # for the line in the log
                answer = await repeated(lambda: issued_answer(self._context, principal, body))
                await self._context.audit.settle()
                return answer
        except ClientDisconnect:
            return None
        except Exception as error:  # noqa: BLE001 - answered as what it is
            request.scope.update(app=self._application, route=route)
            return await answer_to(request, error)


def _read(body: bytes) -> IssueCertificate | None:
    try:
        return IssueCertificate.model_validate(orjson.loads(body))
    except (orjson.JSONDecodeError, ValidationError):
        return None


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what receives the body once more, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return messages.pop() if messages else await receive()

    return given
