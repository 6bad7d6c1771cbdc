"""Routes of the interface's table, served: a request becomes a command, and what the domain returns an answer.

The framework describes these routes in the documentation and doesn't serve them: its solving of parameters takes more
of a short request than the rest of it, and what there is to solve is in the table.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from email.message import Message
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from keybearer.domain.authorization import Principal
from keybearer.interface import route as interface
from keybearer.interface.shapes import OrOlder, Within, marked, strict
from keybearer.server.answers import raw_json_response
from keybearer.server.auth import SECURED, authenticated, opened, principal_of
from keybearer.server.context import ServiceContext, context_of
from keybearer.server.errors import BadRequestError
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.writing import View, Writer, writer_of
from keybearer.wire.base import WireModel

__all__ = ["TableRoute", "served", "served_by"]

Command = TypeVar("Command")
Ask = Callable[[Request, Command], Awaitable[object]]


class TableRoute(Route):
    """One path of a route of the table."""

    def __init__(
        self,
        route: interface.Route[..., Command, Any],
        path: interface.Path,
        ask: Ask[Command],
        write: Writer,
    ) -> None:
        body, query = interface.body_of(route), interface.query_of(route)
        older = marked(route.command, OrOlder)
        parts = {mark.name for mark in marked(route.command, Within).values()}

        async def answer(request: Request) -> Response:
            given: dict[str, Any] = {}
            if body is not None:
                given = _fields_of(await _read_body(request, body))
            elif query is not None:
                given = _fields_of(query_of(request, query))
            for part in parts:
                given |= _fields_of(given.pop(part))
            for name, mark in older.items():
                by_older_word = given.pop(mark.word)
                given[name] = given[name] or by_older_word
                if not given[name]:
                    raise BadRequestError(mark.missing)
            command = route.takes(**request.path_params, **given)
            return raw_json_response(write(await ask(request, command)), {})

        endpoint = opened(answer) if route.is_open else authenticated(answer)
        super().__init__(path.path, endpoint, name=path.name, methods=[route.method])
        self.methods = {route.method}  # without HEAD, which `RequestShell` asks as a GET
        self._path = path
        self._body = body
        self._query = query
        self._route = route

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether the request is for this route; logs and metrics name it by its path."""
        match, found = super().matches(scope)
        if match is not Match.NONE:
            found["route"] = self
        return match, found

    def described(self) -> APIRoute:
        """Return it as the framework's documentation needs it; made only when somebody asks for that."""

        async def described(**_: object) -> None: ...

        kinds = dict.fromkeys(self.param_convertors, str) | (
            {} if self._body is None else {"body": self._body}
        )
        described.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # the framework reads it
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
                for name, kind in kinds.items()
            ]
        )
        return APIRoute(
            self.path,
            described,
            methods=sorted(self.methods or ()),
            name=self.name,
            response_model=strict(self._path.answer),
            summary=self._path.summary,
            tags=[self._route.tag],
            openapi_extra={
                **({} if self._query is None else parameters_of(self._query)),
                **({} if self._route.is_open else SECURED),
            },
        )


def served(
    route: interface.Route[..., Command, Any],
    view: View[Any],
    act: Callable[[ServiceContext], Callable[[Principal, Command], Awaitable[object]]],
    **given: Callable[[Any], object] | str,
) -> list[TableRoute]:
    """Return all paths of a route, served by what the domain has for its command.

    Args:
        route: of the table.
        view: how a result is seen.
        act: finds the method of the domain, which returns a record or several.
        given: what gives fields of the answers beside the result itself, or their text.
    """

    def ask(request: Request, command: Command) -> Awaitable[object]:
        return act(context_of(request))(principal_of(request), command)

    return served_by(route, view, ask, **given)


def served_by(
    route: interface.Route[..., Command, Any],
    view: View[Any],
    ask: Ask[Command],
    **given: Callable[[Any], object] | str,
) -> list[TableRoute]:
    """Return all paths of a route, served by a function that sees the request as well, as `served` does."""
    return [TableRoute(route, path, ask, writer_of(path.answer, view, given)) for path in route.served()]


def _fields_of(read: WireModel) -> dict[str, Any]:
    return {name: tuple(one) if isinstance(one, list) else one for name, one in vars(read).items()}


async def _read_body(request: Request, model: type[WireModel]) -> WireModel:
    """Return the body.

    Raises:
        RequestValidationError: it is no JSON, or has a form that the model forbids.
        HTTPException: it can't be read.
    """
    given = await _json(request)
    try:
        return model.model_validate(given, from_attributes=True)
    except ValidationError as error:
        issues = error.errors(include_url=False, include_input=False)
        raise RequestValidationError(
            [{**issue, "loc": ("body", *issue["loc"])} for issue in issues], body=given
        ) from error


async def _json(request: Request) -> object:
    """Return the body; as bytes, which no model takes, where the request says that it isn't JSON."""
    try:
        body = await request.body()
        if body and _is_json(request.headers.get("content-type")):
            return await request.json()
    except json.JSONDecodeError as error:
        issue = {"type": "json_invalid", "loc": ("body", error.pos), "msg": "JSON decode error"}
        raise RequestValidationError([issue]) from error
    except (ClientDisconnect, RecursionError, ValueError) as error:
        raise HTTPException(400, "There was an error parsing the body") from error
    if not body:
        raise RequestValidationError([{"type": "missing", "loc": ("body",), "msg": "Field required"}])
    return body


def _is_json(content_type: str | None) -> bool:
    if not content_type:
        return True  # callers authenticate with a header that no browser adds by itself
    told = Message()
    told["content-type"] = content_type
    subtype = told.get_content_subtype()
    return told.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))
