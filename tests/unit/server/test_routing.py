"""A route is found by what is literal in its path, and it is the one that looking through all of them would find."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send

from keybearer.server.routing import RouteIndex

OTHERWISE = "otherwise"
WORDS = st.sampled_from(["api", "v1", "v4", "secrets", "a"])
PARAMETERS = st.sampled_from(["{x}", "{y}", "a{z}"])


@st.composite
def templates(draw: st.DrawFn) -> str:
    parts = draw(st.lists(WORDS | PARAMETERS, min_size=1, max_size=6, unique=True))
    return "/" + "/".join([*parts, *draw(st.sampled_from([[], ["{rest:path}"]]))])


PATHS = st.lists(WORDS | st.sampled_from(["", "ab", "x"]), min_size=1, max_size=7).map(
    lambda parts: "/" + "/".join(parts)
)
METHODS = st.sampled_from(["GET", "HEAD", "POST", "DELETE"])


def scope_of(method: str, path: str) -> Scope:
    return {"type": "http", "method": method, "path": path, "headers": [], "query_string": b""}


class Served:
    """Routes that note which of them served a request."""

    def __init__(self, *templates_and_methods: tuple[str, str]) -> None:
        self.by: list[str] = []
        self.parameters: dict[str, str] = {}
        self.routes: Sequence[BaseRoute] = [
            Route(template, self._noting(f"{number} {template}"), methods=[method])
            for number, (template, method) in enumerate(templates_and_methods)
        ]

    def _noting(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            self.by.append(name)
            self.parameters = dict(request.path_params)
            return Response()

        return serve

    async def ask(self, scope: Scope) -> str:
        """Return the route that served the request."""

        async def otherwise(_: Scope, __: Receive, ___: Send) -> None:
            self.by.append(OTHERWISE)

        async def receive() -> Message:
            return {"type": "http.request"}

        async def send(_: Message) -> None:
            pass

        await RouteIndex(self.routes, otherwise)(scope, receive, send)
        (found,) = self.by
        return found

    def first(self, scope: Scope) -> str:
        """Return the route that looking through them all finds."""
        for number, route in enumerate(self.routes):
            if route.matches(scope)[0] is Match.FULL:
                assert isinstance(route, Route)
                return f"{number} {route.path}"
        return OTHERWISE


@given(st.lists(st.tuples(templates(), METHODS), max_size=12), METHODS, PATHS)
async def test_the_route_is_the_first_that_matches(
    routes: list[tuple[str, str]], method: str, path: str
) -> None:
    served = Served(*routes)
    assert await served.ask(scope_of(method, path)) == served.first(scope_of(method, path))


async def test_parameters_of_the_path_are_told() -> None:
    served = Served(("/api/v1/projects/{project}/tags/{tag}", "GET"))
    assert await served.ask(scope_of("GET", "/api/v1/projects/p/tags/t")) != OTHERWISE
    assert served.parameters == {"project": "p", "tag": "t"}


async def test_another_method_and_an_unknown_path_are_left_to_the_framework() -> None:
    for method, path in (("PUT", "/api/v1/tags"), ("GET", "/api/v1/tag"), ("GET", "/")):
        assert await Served(("/api/v1/tags", "GET")).ask(scope_of(method, path)) == OTHERWISE
    assert (
        await Served(("/api/v1/tags", "GET")).ask({**scope_of("GET", "/api/v1/tags"), "type": "websocket"})
        == OTHERWISE
    )


def test_what_would_lose_its_place_is_refused() -> None:
    async def otherwise(_: Scope, __: Receive, ___: Send) -> None:
        raise AssertionError

    for route in (Mount("/api", otherwise), WebSocketRoute("/api", otherwise)):
        with pytest.raises(TypeError, match="can't be looked up"):
            RouteIndex([route], otherwise)
