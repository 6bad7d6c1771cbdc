"""The world of one walker: two organizations, three projects, marked values, and what leads from one to the other."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from support.databases import OwnDatabase
from support.service_fixtures import Client, Credentials, Service
from support.value_roads.principals import OFFICE, PLACES, PROD, TEAM, Place, Walker
from tools.local.marks import MARK

__all__ = ["BRIDGES", "OWN", "Answer", "Traveller", "World", "other_organization"]

Json = dict[str, Any]
OWN = "/pub/own"
"""A folder of dev beside the bridges: there a walker writes, if it may."""
BRIDGES: Mapping[str, Place] = {
    "/pub/refs-team": TEAM,
    "/pub/refs-prod": PROD,
    "/pub/refs-built": PROD,
    "/pub/refs-office": OFFICE,
    "/pub/imports-team": TEAM,
    "/pub/imports-prod": PROD,
    "/pub/chained": PROD,
}
"""Folders of dev that an admin wrote a reference or an import into, and where it leads."""
_SECRETS = "/api/v4/secrets"


@dataclass(frozen=True)
class Answer:
    """Something that a walker got to see, and the places whose values are in it."""

    road: str
    asked: str
    status: int
    places: frozenset[Place]


@dataclass
class World:
    """What is there, and its admins."""

    service: Service
    admin: Client
    foreign: Client
    mark: str = field(default_factory=lambda: secrets.token_hex(6))
    projects: dict[str, str] = field(default_factory=dict)
    slugs: dict[str, str] = field(default_factory=dict)
    environments: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    def made(cls, service: Service, foreign: Client) -> World:
        """Return a new one."""
        world = cls(service, service.admin_client(), foreign)
        for name in ("shop", "office", "foreign"):
            slug = f"{name}-{world.mark}"
            body = {"projectName": name, "slug": slug}
            project = world.client_of(name).json("POST", "/api/v1/projects", json=body)["project"]
            world.projects[name], world.slugs[name] = str(project["id"]), slug
            if name == "shop":
                world.environments = {each["slug"]: str(each["id"]) for each in project["environments"]}
        for place in PLACES:
            world.folder(place.project, place.environment, place.path)
            world.ids[place.name] = world.write(place, "VALUE", world.value_of(place, 1))
            world.change(place, "VALUE", world.value_of(place, 2))
        world._bridge()
        return world

    def _bridge(self) -> None:
        for path in (OWN, *BRIDGES, "/pub/parts"):
            self.ids[path] = self.folder("shop", "dev", path)
        self.put("/pub/parts", ENV="prod")
        self.put("/pub/refs-team", LEADS=f"${{{TEAM.reference}}}")
        self.put("/pub/refs-prod", LEADS=f"<${{{PROD.reference}}}>")
        self.put("/pub/refs-built", LEADS="${${dev.pub.parts.ENV}.vault.VALUE}")
        self.put("/pub/refs-office", LEADS=f"${{@{self.slugs['office']}.{OFFICE.reference}}}")
        for path, place in (("/pub/imports-team", TEAM), ("/pub/imports-prod", PROD)):
            self.ids[f"import {path}"] = self.imported(path, place.environment, place.path)
        self.imported("/pub/chained", "dev", "/pub/imports-prod")

    def client_of(self, project: str) -> Client:
        """Return the client of the admin who made the project."""
        return self.foreign if project == "foreign" else self.admin

    def value_of(self, place: Place, number: int | str) -> str:
        """Return a value that tells its place wherever it turns up."""
        return f"{MARK}{self.mark}-{place.name}-{number}"

    def places_in(self, text: str) -> frozenset[Place]:
        """Return the places whose values are in the text."""
        names = set(re.findall(rf"{MARK}{self.mark}-([a-z]+)-", text))
        return frozenset(place for place in PLACES if place.name in names)

    def folder(self, project: str, environment: str, path: str) -> str:
        """Return the id of a new folder."""
        above, _, name = path.rpartition("/")
        body = {
            "projectId": self.projects[project],
            "environment": environment,
            "name": name,
            "path": above or "/",
        }
        made = self.client_of(project).json("POST", "/api/v2/folders", json=body)["folder"]
        return str(made["id"])

    def at(self, place: Place) -> dict[str, str]:
        """Return how bodies and queries about secrets name the place."""
        return {
            "projectId": self.projects[place.project],
            "environment": place.environment,
            "secretPath": place.path,
        }

    def write(self, place: Place, key: str, value: str) -> str:
        """Return the id of a new secret."""
        body = {**self.at(place), "secretValue": value}
        made = self.client_of(place.project).json("POST", f"{_SECRETS}/{key}", json=body)["secret"]
        return str(made["id"])

    def change(self, place: Place, key: str, value: str) -> None:
        """Give a secret another value."""
        body = {**self.at(place), "secretValue": value}
        self.client_of(place.project).json("PATCH", f"{_SECRETS}/{key}", json=body)

    def spare(self, place: Place) -> tuple[str, str]:
        """Return name and id of a further secret of the place, to be renamed, moved or deleted."""
        key = f"SPARE_{secrets.token_hex(4).upper()}"
        return key, self.write(place, key, self.value_of(place, key.lower()))

    def put(self, path: str, **values: str) -> None:
        """Write secrets into a folder of dev of the shop."""
        for key, value in values.items():
            self.write(Place("", "shop", "dev", path), key, value)

    def imported(self, path: str, environment: str, source: str) -> str:
        """Return the id of a new import into a folder of dev of the shop."""
        body = {
            "projectId": self.projects["shop"],
            "environment": "dev",
            "path": path,
            "import": {"environment": environment, "path": source},
        }
        made = self.admin.json("POST", "/api/v2/secret-imports", json=body)["secretImport"]
        return str(made["id"])

    def traveller(self, walker: Walker) -> Traveller:
        """Return somebody new with the rights of the walker."""
        roles = {self.projects[name]: role for name, role in walker.roles.items()}
        if walker.is_foreign:
            token = self.foreign.headers["authorization"].removeprefix("Bearer ")
            identity_id = ""
        elif walker.is_user:
            person = self.service.create_user(organization_role=walker.organization_role, roles=roles)
            token, identity_id = self.service.login_user(person), person.user_id
        else:
            made = self.service.create_identity(organization_role=walker.organization_role, roles=roles)
            token, identity_id = self.service.login(made), made.identity_id
        for grant in walker.grants:
            self._grant(identity_id, grant.body)
        return Traveller(self, walker, self.service.client(token), token, identity_id)

    def _grant(self, identity_id: str, body: Mapping[str, object]) -> None:
        path = f"/api/v1/projects/{self.projects['shop']}/grants"
        # What is done to values is done to secrets alone.
        subjects, actions = body["subjects"], body["actions"]
        assert isinstance(subjects, list)
        assert isinstance(actions, list)
        others = [one for one in subjects if one != "secrets"]
        parts = [(["secrets"], actions)] if "secrets" in subjects else []
        if others:
            parts.append((others, [one for one in actions if one != "read-value"]))
        for concerned, allowed in parts:
            given = {**body, "subjects": concerned, "actions": allowed, "identityId": identity_id}
            self.admin.json("POST", path, json=given)


@dataclass
class Traveller:
    """A walker in its world, and all that it got to see there.

    Attributes:
        road: the one that is being walked; answers are noted with its name.
    """

    world: World
    walker: Walker
    client: Client
    token: str = field(repr=False)
    identity_id: str = ""
    road: str = ""
    answers: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.client.event_hooks = {"response": [*self.client.event_hooks["response"], self._note]}

    def _note(self, response: httpx.Response) -> None:
        response.read()
        # Headers as well: a tag or a link may carry something.
        shown = response.text + str(dict(response.headers))
        path = response.request.url.raw_path.decode().partition("?")[0]
        asked = f"{response.request.method} {path}"
        self.saw(asked, shown, response.status_code)

    def saw(self, where: str, text: str, status: int = 200) -> None:
        """Note what the walker sees in an answer, an event, or at a destination of its own."""
        self.answers.append(Answer(self.road, where, status, self.world.places_in(text)))

    def ask(self, method: str, path: str, **options: object) -> Json | None:
        """Return what is answered with 200; None for a refusal, which may be what is right."""
        response = self.client.request(method, path, **options)  # type: ignore[arg-type] # httpx's own keywords
        assert response.status_code < 500, f"{method} {path}: {response.text}"
        is_json = response.headers.get("content-type") == "application/json"
        content: Json | None = response.json() if response.status_code == 200 and is_json else None
        return content

    def at(self, path: str = OWN, environment: str = "dev") -> dict[str, str]:
        """Return how a folder of the shop is named."""
        return {"projectId": self.world.projects["shop"], "environment": environment, "secretPath": path}

    def look(self, path: str = OWN, environment: str = "dev") -> None:
        """List a folder of the shop."""
        self.ask("GET", _SECRETS, params=self.at(path, environment))

    @property
    def leaks(self) -> list[str]:
        """One line for each answer with a value of a place that is hidden from the walker."""
        return [
            f"{self.walker.name}, on the road '{one.road}', got values of {sorted(place.name for place in hidden)} "
            f"by {one.asked}"
            for one in self.answers
            if (hidden := one.places & self.walker.hidden)
        ]


def other_organization(service: Service) -> Client:
    """Return a client of the admin of a new organization, which no route makes."""
    made: Credentials = service.create_identity(organization_role="admin")
    organization, database = str(uuid4()), OwnDatabase()
    columns = "id, name, slug, names_revision, created_at"
    database.execute(
        service.data_dir,
        f"INSERT INTO organizations ({columns}) SELECT '{organization}', 'Other', 'o-{organization[:8]}', 1, "  # noqa: S608 - ours
        "created_at FROM organizations LIMIT 1",
    )
    database.execute(
        service.data_dir,
        f"UPDATE identities SET organization_id = '{organization}' WHERE id = '{made.identity_id}'",  # noqa: S608 - ours
    )
    return service.client(service.login(made))
