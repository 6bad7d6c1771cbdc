"""A route of the interface as a value: what is sent where, and what comes back.

A route takes a command: a frozen dataclass of all that a request says. Fields that the path names travel in the path.
All others travel in the query of a GET, and in the body of other methods. The client's method has the parameters of
the command's constructor, and the domain takes the command as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, Generic, Literal, ParamSpec, TypeVar, cast

from pydantic import Field

from keybearer.interface.shapes import OrOlder, model_of
from keybearer.wire.base import WireModel
from keybearer.wire.bodies import BodyModel
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX, FOLDER_PATH_MAX

__all__ = [
    "EnvironmentName",
    "FolderPath",
    "InFolder",
    "InProject",
    "Method",
    "Older",
    "Path",
    "Route",
    "body_of",
    "path_fields",
    "query_of",
]

EnvironmentName = Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
FolderPath = Annotated[str, Field(max_length=FOLDER_PATH_MAX)]

P = ParamSpec("P")
C_co = TypeVar("C_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InProject:
    """Base of commands in one project."""

    project_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InFolder:
    """Base of commands in one folder; `environment` is a slug. The path doesn't name the project."""

    project_id: Annotated[str, OrOlder("workspace_id", missing="Missing project id or environment")]
    environment: EnvironmentName
    path: FolderPath = "/"


@dataclass(frozen=True, slots=True)
class Older:
    """An earlier path of a route, with what differs there: the words of its answer, its name in the documentation.

    Its summary there says in brackets what it is.
    """

    path: str
    answer: type[object] | None = None
    name: str = ""
    is_what: str = "older path"


@dataclass(frozen=True, slots=True)
class Path:
    """One path of a route as it is served and documented."""

    path: str
    answer: type[object]
    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class Route(Generic[P, C_co, A_co]):
    """What can be asked.

    Attributes:
        method: of HTTP.
        paths: the canonical one, which our client uses, and older ones that are served as well.
        takes: the command, a frozen dataclass.
        answer: a shape; of an `Envelope`, the client returns what it holds.
        tag: the chapter of the documentation.
        summary: its line there.
        also_answered: another form of the answer, which services other than ours have; the client reads both.
        body_rules: the base of the body's model, which says what zeros mean there.
        is_repeatable: twice is as good as once, though it is no GET.
        is_open: anybody may ask, without a token.
    """

    method: Method
    paths: tuple[str | Older, ...]
    takes: Callable[P, C_co]
    answer: type[A_co]
    tag: str
    summary: str
    also_answered: type[Any] | None = None
    body_rules: type[WireModel] = BodyModel
    is_repeatable: bool = False
    is_open: bool = False

    @property
    def command(self) -> type[Any]:
        """What it takes, as the class that it is."""
        return cast("type[Any]", self.takes)

    @property
    def name(self) -> str:
        """The name of its command, which is that of the operation in metrics and traces."""
        return self.command.__name__

    @property
    def canonical(self) -> str:
        """The path that our client uses."""
        first = self.paths[0]
        return first if isinstance(first, str) else first.path

    def served(self) -> Iterator[Path]:
        """Return all paths, the canonical one first."""
        name = _snake(self.name)
        yield Path(self.canonical, self.answer, name, self.summary)
        for given in self.paths[1:]:
            older = Older(given) if isinstance(given, str) else given
            summary = f"{self.summary} ({older.is_what})"
            yield Path(older.path, older.answer or self.answer, older.name or name, summary)


def path_fields(route: Route[..., Any, Any]) -> tuple[str, ...]:
    """Return the fields of the command that travel in the path, in their order there."""
    return tuple(re.findall(r"{(\w+)}", route.canonical))


@cache
def body_of(route: Route[..., Any, Any]) -> type[WireModel] | None:
    """Return the model of the body, None where there is none."""
    return None if route.method == "GET" else _rest_of(route, route.body_rules)


@cache
def query_of(route: Route[..., Any, Any]) -> type[WireModel] | None:
    """Return the model of the query, None where there is none."""
    return _rest_of(route, WireModel) if route.method == "GET" else None


def _rest_of(route: Route[..., Any, Any], base: type[WireModel]) -> type[WireModel] | None:
    in_path = path_fields(route)
    names = tuple(field.name for field in fields(route.command) if field.name not in in_path)
    return model_of(route.command, names, base) if names else None


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
