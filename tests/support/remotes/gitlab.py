"""A copy of GitLab's API for CI/CD variables, on a real socket.

https://docs.gitlab.com/api/project_level_variables, /api/group_level_variables, /api/rest, and the rules of values
that are masked: https://docs.gitlab.com/ci/variables/#mask-a-cicd-variable.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from keybearer.destinations import gitlab
from support.conformance.remote_under_test import (
    PlaceUnderTest,
    RemoteUnderTest,
    RunningRemote,
    Surroundings,
)
from support.remotes.limits import FORMS
from support.remotes.serving import Visits, page_of, served

__all__ = ["UNDER_TEST", "GitLabCopy", "Variable", "VariablesPlace"]

_KEY = re.compile(r"[A-Za-z0-9_]{1,255}")
_MASKED = re.compile(r"[A-Za-z0-9_+=/@:.~-]{8,}")
_MASKED_RAW = re.compile(r"\S{8,}")
_VALUE_MAX = 10_000
_FLAGS = ("protected", "masked", "raw")


@dataclass(frozen=True)
class Variable:
    """A variable; the same key may be there once for each environment scope."""

    key: str
    value: str = field(repr=False)
    environment_scope: str = "*"
    variable_type: str = "env_var"
    protected: bool = False
    masked: bool = False
    hidden: bool = False
    raw: bool = False

    def shown(self) -> dict[str, Any]:
        """Return what is told of it: a hidden value never."""
        return {
            "key": self.key,
            "value": None if self.hidden else self.value,
            "environment_scope": self.environment_scope,
            "variable_type": self.variable_type,
            "protected": self.protected,
            "masked": self.masked,
            "hidden": self.hidden,
            "raw": self.raw,
            "description": None,
        }


@dataclass
class VariablesPlace:
    """A project or a group."""

    kind: str
    variables: list[Variable] = field(default_factory=list)

    def values(self, scope: str = "*") -> dict[str, str]:
        """Return what it holds in the scope."""
        return {one.key: one.value for one in self.variables if one.environment_scope == scope}

    def put(self, key: str, value: str, **fields: Any) -> None:  # noqa: ANN401 - fields of a variable
        """Have a person write a variable by hand."""
        made = Variable(key, value, **fields)
        self.variables = [one for one in self.variables if _name(one) != _name(made)]
        self.variables.append(made)


def _name(variable: Variable) -> tuple[str, str]:
    return variable.key, variable.environment_scope


class GitLabCopy:
    """An instance.

    Attributes:
        tokens: and what each may: `api`, or only `read_api`.
        places: by `projects/ID` and `groups/ID`; an id may be a path.
        is_free: whether groups have no environment scopes: the one that is sent is dropped.
    """

    def __init__(self) -> None:
        self.visits = Visits()
        self.url = ""
        self.tokens: dict[str, str] = {}
        self.places: dict[str, VariablesPlace] = {}
        self.is_free = False

    def project(self, project_id: str) -> VariablesPlace:
        """Return a new project."""
        return self.places.setdefault(f"projects/{project_id}", VariablesPlace("Project"))

    def group(self, group_id: str) -> VariablesPlace:
        """Return a new group."""
        return self.places.setdefault(f"groups/{group_id}", VariablesPlace("Group"))

    def routes(self) -> list[web.RouteDef]:
        """Return what it answers to: at the root, and as an instance below a path."""
        found = []
        for root in ("/api/v4", "/code/api/v4"):
            found.append(web.get(f"{root}/user", self._user))
            for kind in ("projects", "groups"):
                base = f"{root}/{{kind:{kind}}}/{{id}}/variables"
                found += [
                    web.get(base, self._list),
                    web.post(base, self._create),
                    web.get(f"{base}/{{key}}", self._show),
                    web.put(f"{base}/{{key}}", self._update),
                    web.delete(f"{base}/{{key}}", self._delete),
                ]
        return found

    # Who asks.

    def _scope(self, request: web.Request) -> str:
        token = request.headers.get("PRIVATE-TOKEN", "")
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        token = bearer if scheme == "Bearer" else token
        if token not in self.tokens:
            raise _refusal(401, {"message": "401 Unauthorized"})
        return self.tokens[token]

    def _place(self, request: web.Request) -> VariablesPlace:
        scope = self._scope(request)
        if scope != "api" and request.method != "GET":
            told = "The request requires higher privileges than provided by the access token."
            raise _refusal(403, {"error": "insufficient_scope", "error_description": told, "scope": "api"})
        kind = request.match_info["kind"]
        place = self.places.get(f"{kind}/{request.match_info['id']}")
        if place is None:
            raise _refusal(404, {"message": f"404 {kind[:-1].capitalize()} Not Found"})
        return place

    async def _user(self, request: web.Request) -> web.Response:
        self._scope(request)
        return web.json_response({"id": 1, "username": "robot", "state": "active"})

    # Variables.

    async def _list(self, request: web.Request) -> web.Response:
        place = self._place(request)
        number, size = page_of(request, usual=20, most=100)
        shown = [one.shown() for one in place.variables[(number - 1) * size : number * size]]
        headers = {"x-page": str(number), "x-per-page": str(size), "x-next-page": ""}
        if number * size < len(place.variables):
            following = request.url.update_query(page=number + 1, per_page=size)
            headers |= {"x-next-page": str(number + 1), "Link": f'<{following}>; rel="next"'}
        return web.json_response(shown, headers=headers)

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response(self._one(request).shown())

    async def _create(self, request: web.Request) -> web.Response:
        place = self._place(request)
        body = await _body(request, "key", "value")
        hidden = body.pop("masked_and_hidden", False)
        if self.is_free and place.kind == "Group":
            body.pop("environment_scope", None)
        fields = {name: body[name] for name in _known() if name in body}
        made = Variable(**fields)
        if hidden:
            made = replace(made, masked=True, hidden=True)
        _check(made)
        if any(_name(one) == _name(made) for one in place.variables):
            raise _refusal(400, {"message": {"key": [f"({made.key}) has already been taken"]}})
        place.variables.append(made)
        return web.json_response(made.shown(), status=201)

    async def _update(self, request: web.Request) -> web.Response:
        place, before = self._place(request), self._updated(request)
        body = await _body(request, "value")
        after = replace(before, **{name: body[name] for name in _known() if name in body and name != "key"})
        if before.hidden and not after.masked:
            raise _refusal(400, {"message": {"base": ["The visibility setting can't be changed"]}})
        _check(after)
        place.variables[place.variables.index(before)] = after
        return web.json_response(after.shown())

    async def _delete(self, request: web.Request) -> web.Response:
        self._place(request).variables.remove(self._one(request))
        return web.Response(status=204)

    def _updated(self, request: web.Request) -> Variable:
        """Return what an update is for: of a group, if the filter fits none, the first of that key in any scope."""
        place = self._place(request)
        same = [one for one in place.variables if one.key == request.match_info["key"]]
        scope = request.query.get("filter[environment_scope]")
        if place.kind == "Group" and same and scope not in {one.environment_scope for one in same}:
            return same[0]
        return self._one(request)

    def _one(self, request: web.Request) -> Variable:
        """Return the variable that key and filter name."""
        place = self._place(request)
        found = [one for one in place.variables if one.key == request.match_info["key"]]
        scope = request.query.get("filter[environment_scope]")
        if scope is not None:
            found = [one for one in found if one.environment_scope == scope]
        if not found:
            kind = "GroupVariable" if place.kind == "Group" else "Variable"
            raise _refusal(404, {"message": f"404 {kind} Not Found"})
        if len(found) > 1:
            told = "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'"
            raise _refusal(409, {"message": told})
        return found[0]


def _known() -> tuple[str, ...]:
    return ("key", "value", "environment_scope", "variable_type", *_FLAGS)


async def _body(request: web.Request, *required: str) -> dict[str, Any]:
    body = await request.json()
    missing = [name for name in required if not isinstance(body.get(name), str)]
    if missing:
        raise _refusal(400, {"error": f"{missing[0]} is missing"})
    wrong = [name for name in _FLAGS if not isinstance(body.get(name, False), bool)]
    if wrong:
        raise _refusal(400, {"error": f"{wrong[0]} is invalid"})
    return dict(body)


def _check(variable: Variable) -> None:
    """Judge as the model does; what is said of a value doesn't repeat it, as GitLab's own words don't."""
    wrong: dict[str, list[str]] = {}
    if not _KEY.fullmatch(variable.key):
        wrong["key"] = ["can contain only letters, digits and '_'."]
    if len(variable.value) > _VALUE_MAX:
        wrong["value"] = [f"is too long (maximum is {_VALUE_MAX} characters)"]
    rule = _MASKED_RAW if variable.raw else _MASKED
    if variable.masked and not rule.fullmatch(variable.value):
        wrong["value"] = ["is invalid"]
    if wrong:
        raise _refusal(400, {"message": wrong})


def _refusal(status: int, body: Mapping[str, Any]) -> web.HTTPException:
    kinds = (
        web.HTTPBadRequest,
        web.HTTPUnauthorized,
        web.HTTPForbidden,
        web.HTTPNotFound,
        web.HTTPConflict,
    )
    (kind,) = (one for one in kinds if one.status_code == status)
    return kind(text=web.json_response(body).text, content_type="application/json")


def _project(copy: GitLabCopy, path: str) -> PlaceUnderTest:
    place = copy.project(path)
    config = {"scope": "project", "projectId": path, "projectName": "Shop"}
    return PlaceUnderTest(config, place.values, place.put)


@asynccontextmanager
async def _start(_: Surroundings) -> AsyncIterator[RunningRemote]:
    copy = GitLabCopy()
    copy.tokens = {"glpat-cnry-admin": "api"}
    right, wrong = (
        gitlab.AccessTokenCredentials.model_validate({"accessToken": token, "accessTokenType": "personal"})
        for token in ("glpat-cnry-admin", "glpat-cnry-revoked")
    )
    async with served(copy):
        yield RunningRemote(
            method="access-token",
            right=right,
            wrong=wrong,
            here=_project(copy, "acme/shop"),
            elsewhere=_project(copy, "acme/depot"),
            endpoints={"gitlab": copy.url},
        )


UNDER_TEST = RemoteUnderTest(
    kind=gitlab.GITLAB,
    start=_start,
    forms=FORMS["gitlab"],
    page=100,
    bad_keys=("A-B", "A B", "Ä", "A" * 256, *(f"BAD.{number}" for number in range(6))),
)
"""How the suite runs `gitlab`: two projects."""
