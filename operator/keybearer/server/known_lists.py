"""Lists that are kept are answered here, before the framework: its layers cost more than such an answer.

Who asks must be known from a moment ago, and the list must still stand; whatever else there is to say, a refusal
most of all, the application says. So nothing is decided here that isn't decided there as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from keybearer.base.errors import KeybearerError
from keybearer.base.logs import get_logger
from keybearer.domain.secrets.entity_tags import candidates
from keybearer.server.answers import not_modified, raw_json_response
from keybearer.server.auth import address_of, bearer_of, remember_principal
from keybearer.server.context import ServiceContext
from keybearer.server.list_cache import ListKey

__all__ = ["KnownLists", "kept_answer"]

_log = get_logger(__name__)


async def kept_answer(context: ServiceContext, key: ListKey, if_none_match: str | None) -> Response | None:
    """Return the answer that is kept under the key, if nothing it depends on has moved.

    Raises:
        BusyError: the audit log is strict and can't be written at the moment.
        UnavailableError: the database, which other processes write to, can't be asked.
    """
    kept = await context.lists.find(key)
    if kept is None:
        return None
    if if_none_match is not None and kept.tag in candidates(if_none_match):
        return not_modified(kept.tag)
    if kept.body is None:
        return None
    if kept.read is not None:
        context.audit.read_again(key, kept.read)
    return raw_json_response(kept.body, {"etag": kept.tag})


class KnownLists:
    """Stands before the application, within the bounds that hold for every request."""

    def __init__(self, app: ASGIApp, context: ServiceContext, routes: Mapping[str, BaseRoute]) -> None:
        self._app = app
        self._context = context
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request from what is kept, or hand it on."""
        route = None
        if scope["type"] == "http" and scope["method"] == "GET":
            route = self._routes.get(scope["path"])
        answer = None if route is None else await self._kept(Request(scope))
        if answer is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = route  # for the line in the log
        await answer(scope, receive, send)

    async def _kept(self, request: Request) -> Response | None:
        principal = self._context.authentication.known(bearer_of(request), address_of(request))
        if principal is None:
            return None
        remember_principal(request, principal)
        try:
            key = self._context.lists.key(principal, request.scope["path"], request.scope["query_string"])
            answer = await kept_answer(self._context, key, request.headers.get("if-none-match"))
            await self._context.audit.settle()
        except KeybearerError as error:
            # The application meets the same and answers it as what it is.
            _log.debug("kept_list_not_answered", kind=type(error).__name__)
            return None
        return answer
