"""How a limit of the service is written down, sent at a measure, and held to its edges."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx

from support.pki_house import Pki, pki_of
from support.service_fixtures import Client, Project, Service

__all__ = ["KEY_SIGN", "Limit", "World", "items", "number", "text"]

Json = dict[str, Any]
Rest = Callable[["World"], Mapping[str, Any]]
KEY_SIGN = "\N{KEY}"
"""One character, four bytes in UTF-8, two in the UTF-16 that others count in."""
_MISSING = ("empty", "required", "at least one")


@dataclass
class World:
    """What requests at a limit refer to; each thing is made when it is first needed.

    Also a mapping for the placeholders of paths.
    """

    service: Service
    _serial: Iterator[int] = field(default_factory=itertools.count)

    @cached_property
    def admin(self) -> Client:
        return self.service.admin_client()

    @cached_property
    def project(self) -> Project:
        return self.service.create_project(name="limits")

    @cached_property
    def identity(self) -> str:
        return self.service.create_identity(roles={self.project.id: "viewer"}).identity_id

    @cached_property
    def user(self) -> str:
        return self.service.create_user().user_id

    @property
    def bare_identity(self) -> str:
        body = {"name": "bare", "organizationId": self.service.organization_id}
        return str(self.admin.json("POST", "/api/v1/identities", json=body)["identity"]["id"])

    @cached_property
    def tags(self) -> list[str]:
        path = f"/api/v1/projects/{self.project.id}/tags"
        bodies = [{"slug": f"of-many-{number}"} for number in range(100)]
        return [str(self.admin.json("POST", path, json=body)["tag"]["id"]) for body in bodies]

    @cached_property
    def folder(self) -> str:
        body = {**self.place, "path": "/", "name": self.fresh()}
        return str(self.admin.json("POST", "/api/v2/folders", json=body)["folder"]["id"])

    @cached_property
    def environment(self) -> str:
        project = self.admin.json("GET", f"/api/v1/projects/{self.project.id}")["project"]
        return next(str(item["id"]) for item in project["environments"] if item["slug"] == "prod")

    @cached_property
    def tag(self) -> str:
        path = f"/api/v1/projects/{self.project.id}/tags"
        return str(self.admin.json("POST", path, json={"slug": self.fresh()})["tag"]["id"])

    @cached_property
    def pki(self) -> Pki:
        return pki_of(self.service)

    @cached_property
    def certificate_profile(self) -> str:
        return str(self.pki.profile()["id"])

    @cached_property
    def secret(self) -> Json:
        return self.new_secret()

    def new_secret(self) -> Json:
        """A secret of its own."""
        path = f"/api/v4/secrets/{self.fresh()}"
        secret: Json = self.admin.json("POST", path, json={**self.place, "secretValue": "cnry-v"})["secret"]
        return secret

    @property
    def place(self) -> Json:
        """The root of dev."""
        return {"projectId": self.project.id, "environment": "dev"}

    def fresh(self) -> str:
        """A name that nothing has."""
        return f"k{next(self._serial)}-{secrets.token_hex(4)}"

    def __getitem__(self, name: str) -> str:
        match name:
            case "project":
                return self.project.id
            case "fresh":
                return self.fresh()
            case "secret" | "secret_key":
                return str(self.secret["id" if name == "secret" else "secretKey"])
            case _:
                return str(getattr(self, name))


@dataclass(frozen=True)
class Limit:
    """A field of an operation, with the least and the greatest measure that are taken.

    Attributes:
        operation: method and path, with placeholders of `World`.
        field: as messages name it.
        low: 0 for a text or list that may be empty.
        high: None where there is no greatest.
        fields: body, or query of a GET, at a measure.
        constants: of wire/limits.py, which this tests.
        taken: the status of a request within the limit.
        refused: the status of one outside.
        is_number: so that there is a measure under 0.
        is_optional: so that an empty text or a 0 counts as absent, and isn't refused as too short or too small.
    """

    operation: str
    field: str
    low: int
    high: int | None
    fields: Callable[[World, int], Mapping[str, Any]]
    constants: tuple[str, ...] = ()
    taken: int = 200
    refused: int = 422
    is_number: bool = False
    is_optional: bool = False

    @property
    def name(self) -> str:
        """What the test of this limit is called."""
        return f"{self.field} of {self.operation}".replace("/api/", "")

    @property
    def inside(self) -> list[int]:
        """The measures that are taken."""
        return [self.low] if self.high is None or self.high == self.low else [self.low, self.high]

    @property
    def outside(self) -> list[tuple[int, int]]:
        """Measures that are refused, each with the limit that a message must tell."""
        least = self.low - 1
        if self.is_optional and least == 0:
            least = -1
        below = [(least, self.low)] if least >= 0 or self.is_number else []
        return below + ([] if self.high is None else [(self.high + 1, self.high)])

    def send(self, world: World, measure: int) -> httpx.Response:
        """Return the answer to a request with the field at a measure."""
        method, _, path = self.operation.partition(" ")
        given = dict(self.fields(world, measure))
        path = path.format_map(world)
        if method == "GET":
            return world.admin.get(path, params=given)
        return world.admin.request(method, path, json=given)

    def check_taken(self, response: httpx.Response) -> None:
        """Raise AssertionError unless the request was within the limit."""
        assert response.status_code == self.taken, response.text[:500]

    def check_refused(self, response: httpx.Response, told: int) -> None:
        """Raise AssertionError unless the answer is the documented refusal, naming field and limit."""
        assert response.status_code == self.refused, response.text[:500]
        message = response.json()["message"]
        issues = message if isinstance(message, list) else [{"path": [], "message": message}]
        texts = [f"{'.'.join(map(str, issue['path']))}: {issue['message']}" for issue in issues]
        assert any(self.field in text for text in texts), texts
        # One that is missing is told in words.
        words = [str(told), *(_MISSING if told == 1 else ())]
        assert any(word in text for text in texts for word in words), texts


def _nothing(_: World) -> Mapping[str, Any]:
    return {}


def text(
    operation: str,
    name: str,
    low: int,
    high: int,
    *constants: str,
    rest: Rest = _nothing,
    make: Callable[[int], Any] | None = None,
    put: Callable[[Any], Mapping[str, Any]] | None = None,
    taken: int = 200,
    refused: int = 422,
) -> Limit:
    """Return the limit of a text, counted in characters: made of four-byte ones, unless `make` makes it."""
    make = make or (lambda length: KEY_SIGN * length)
    put = put or (lambda value: {name: value})
    return Limit(
        operation,
        name,
        low,
        high,
        lambda world, length: {**rest(world), **put(make(length))},
        constants,
        taken,
        refused,
    )


def number(
    operation: str,
    name: str,
    low: int,
    high: int | None,
    *constants: str,
    rest: Rest = _nothing,
    taken: int = 200,
) -> Limit:
    """Return the limit of a number."""
    return Limit(
        operation,
        name,
        low,
        high,
        lambda world, value: {**rest(world), name: value},
        constants,
        taken,
        is_number=True,
    )


def items(
    operation: str,
    name: str,
    low: int,
    high: int,
    *constants: str,
    item: Callable[[World, int], Any],
    rest: Rest = _nothing,
    taken: int = 200,
) -> Limit:
    """Return the limit of a list's length."""
    return Limit(
        operation,
        name,
        low,
        high,
        lambda world, count: {**rest(world), name: [item(world, index) for index in range(count)]},
        constants,
        taken,
    )
