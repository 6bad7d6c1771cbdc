"""Roads to destinations: syncs that a walker makes, changes or takes over, and what they bring and carry."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from support.service_fixtures import Client
from support.value_roads.outlets import Outlet
from support.value_roads.principals import PROD, TEAM
from support.value_roads.world import BRIDGES, OWN, Traveller
from support.value_roads.writing import texts
from tools.local.waiting import eventually

__all__ = ["Pusher"]

Json = dict[str, Any]
_SYNCS, _CONNECTIONS = "/api/v1/secret-syncs", "/api/v1/app-connections"
_IMPORTING = "import-prioritize-destination"


@dataclass
class Pusher:
    """A walker before one kind of destination, with a connection of the shop that its members may use.

    Attributes:
        is_thorough: tries each folder, and writes each text; otherwise what tells one kind from another.
    """

    traveller: Traveller
    outlet: Outlet
    is_thorough: bool = True
    connection: str = field(init=False)

    def __post_init__(self) -> None:
        body = {
            "name": f"roads-{secrets.token_hex(6)}",
            "method": self.outlet.method,
            "credentials": dict(self.outlet.credentials),
            "projectId": self._shop,
        }
        made = self._admin.json("POST", f"{_CONNECTIONS}/{self.outlet.app}", json=body)
        self.connection = made["appConnection"]["id"]

    @property
    def _shop(self) -> str:
        return self.traveller.world.projects["shop"]

    @property
    def _admin(self) -> Client:
        return self.traveller.world.admin

    def sources(self) -> None:
        """Syncs of each place and of each folder that leads to one."""
        for environment, path in self._folders():
            self._pushed(environment, path)

    def own_texts(self) -> None:
        """Syncs of a folder in which the walker has written each text and import that it may."""
        if not self.is_thorough:
            return
        for key, text in texts(self.traveller).items():
            body = {**self.traveller.at(), "secretValue": text}
            self.traveller.ask("POST", f"/api/v4/secrets/{key}", json=body)
        folder = {"projectId": self._shop, "environment": "dev", "path": OWN}
        for path in BRIDGES:
            source = {"environment": "dev", "path": path}
            self.traveller.ask("POST", "/api/v2/secret-imports", json={**folder, "import": source})
        self._pushed("dev", OWN)

    def what_was_made_before(self) -> None:
        """A sync that was right when it was made: then an admin imports into its folder, and has it run."""
        name, path = _name(), "/pub/later"
        self.traveller.world.folder("shop", "dev", path)
        sync = self._create("dev", path, name, isAutoSyncEnabled=False)
        if sync is None:
            return
        self.traveller.world.put(path, LEADS=f"${{{TEAM.reference}}}")
        self.traveller.world.imported(path, PROD.environment, PROD.path)
        self._run(sync, name, client=self._admin)

    def what_an_admin_made(self) -> None:
        """Syncs of an admin that the walker leads to a place of its own, or takes over, and has run."""
        places = [(TEAM.environment, TEAM.path), (PROD.environment, PROD.path), ("dev", "/pub/chained")]
        for environment, path in places if self.is_thorough else places[:1]:
            theirs, mine = _name(), _name()
            sync = self._create(environment, path, theirs, client=self._admin, isAutoSyncEnabled=False)
            assert sync is not None
            route = _route(sync)
            led = self.traveller.ask("PATCH", route, json={"destinationConfig": self.outlet.config(mine)})
            taken = self.traveller.ask(
                "PATCH", f"{route}/owner", json={"ownerId": self.traveller.identity_id}
            )
            if led is not None or taken is not None:
                self._run(sync, mine)
            self._delete(sync)

    def what_comes_back(self) -> None:
        """Texts with references that lie at the destination, brought in and carried out again."""
        if self.outlet.put is None:
            return
        texts_there = {"LOOT": f"${{{PROD.reference}}}"}
        for behavior in (_IMPORTING, "overwrite-destination"):
            name = _name()
            for key, text in texts_there.items():
                self.outlet.config(name)
                self.outlet.put(name, key, text)
            sync = self._create("dev", OWN, name, behavior=behavior, isAutoSyncEnabled=False)
            if sync is None:
                continue
            self.traveller.ask("POST", f"{_route(sync)}/import-secrets?importBehavior=prioritize-destination")
            self._settled(sync)
            self.traveller.look()
            self._run(sync, name)
            self._delete(sync)

    def _folders(self) -> list[tuple[str, str]]:
        places = [(place.environment, place.path) for place in (TEAM, PROD)]
        if not self.is_thorough:
            return [*places, ("dev", "/pub"), ("dev", "/pub/refs-office"), ("dev", "/pub/chained")]
        return [*places, ("prod", "/"), ("dev", "/pub"), *(("dev", path) for path in BRIDGES)]

    def _pushed(self, environment: str, path: str) -> None:
        name = _name()
        sync = self._create(environment, path, name)
        if sync is not None:
            self._run(sync, name)
            self._delete(sync)
        # One of a harmless folder that is led there.
        name = _name()
        led = self._create("dev", "/pub/parts", name, isAutoSyncEnabled=False)
        if led is not None:
            self.traveller.ask("PATCH", _route(led), json={"environment": environment, "secretPath": path})
            self._run(led, name)
            self._delete(led)

    def _create(
        self,
        environment: str,
        path: str,
        name: str,
        *,
        client: Client | None = None,
        behavior: str = "overwrite-destination",
        **more: object,
    ) -> Json | None:
        body = {
            "name": f"s-{name}",
            "projectId": self._shop,
            "connectionId": self.connection,
            "environment": environment,
            "secretPath": path,
            "syncOptions": {"initialSyncBehavior": behavior},
            "destinationConfig": self.outlet.config(name),
            **more,
        }
        route = f"{_SYNCS}/{self.outlet.kind}"
        if client is not None:
            made: Json = client.json("POST", route, json=body)["secretSync"]
            return made
        answer = self.traveller.ask("POST", route, json=body)
        return None if answer is None else answer["secretSync"]

    def _run(self, sync: Json, name: str, *, client: Client | None = None) -> None:
        """Ask for a push, and note what lies at the place once it has ended."""
        if client is None:
            self.traveller.ask("POST", f"{_route(sync)}/sync-secrets")
        else:
            client.json("POST", f"{_route(sync)}/sync-secrets")
        self._settled(sync)
        self.traveller.saw(f"POST {_SYNCS}/{self.outlet.kind}", self.outlet.shown(name))

    def _settled(self, sync: Json) -> None:
        def probe() -> bool:
            found = self._admin.json("GET", _route(sync))["secretSync"]
            return not {found["syncStatus"], found["importStatus"]} & {"pending", "running"}

        eventually(probe, awaited=f"an end of what {self.outlet.kind} is asked")

    def _delete(self, sync: Json) -> None:
        self._admin.json("DELETE", _route(sync))


def _name() -> str:
    return f"roads-{secrets.token_hex(5)}"


def _route(sync: Json) -> str:
    return f"{_SYNCS}/{sync['destination']}/{sync['id']}"
