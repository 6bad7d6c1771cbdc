"""A project whose secrets are pushed to a cloud on loopback: over HTTP alone, as people see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from support.remotes.moto import CloudFixture
from support.service_fixtures import Client, Project, ProjectSecrets, Service
from tools.local.waiting import eventually

__all__ = ["Pushed"]

Json = dict[str, Any]
_SYNCS = "/api/v1/secret-syncs"
_PARAMETERS = "cloud-parameter-store"
_ENDS = ("succeeded", "failed")


@dataclass
class Pushed:
    """What one test works with.

    Attributes:
        path: of its own in the parameter store.
    """

    service: Service
    account: CloudFixture
    project: Project
    secrets: ProjectSecrets
    connection: str
    path: str

    @classmethod
    def new(cls, service: Service, account: CloudFixture, *, path: str) -> Self:
        """Return a new project with a connection to the account."""
        project = service.create_project()
        admin = service.admin_client()
        body = {
            "name": "cloud",
            "method": "access-key",
            "projectId": project.id,
            "credentials": account.credentials.written(),
        }
        made = admin.json("POST", "/api/v1/app-connections/cloud", json=body)["appConnection"]
        return cls(service, account, project, ProjectSecrets(admin, project), made["id"], path)

    @property
    def admin(self) -> Client:
        return self.secrets.client

    def create(
        self,
        destination: str = _PARAMETERS,
        config: Json | None = None,
        *,
        secret_path: str = "/",
        automatic: bool = True,
        **options: object,
    ) -> Json:
        """Return a new sync of a folder of dev; without a configuration to the test's path of parameters."""
        body = {
            "name": f"to-{self.path.strip('/')}",
            "projectId": self.project.id,
            "connectionId": self.connection,
            "environment": "dev",
            "secretPath": secret_path,
            "isAutoSyncEnabled": automatic,
            "syncOptions": {"initialSyncBehavior": "overwrite-destination", **options},
            "destinationConfig": {"region": "eu-west-1", **(config or {"path": self.path})},
        }
        made: Json = self.admin.json("POST", f"{_SYNCS}/{destination}", json=body)["secretSync"]
        return made

    def ask(self, sync: Json, what: str = "sync-secrets", **body: object) -> Json:
        """Have something done."""
        asked: Json = self.admin.json("POST", f"{_route(sync)}/{what}", json=body or None)["secretSync"]
        return asked

    def connect_anew(self) -> None:
        """Give the connection its credentials once more, as people do who mended them."""
        body = {"credentials": self.account.credentials.written()}
        self.admin.json("PATCH", f"/api/v1/app-connections/cloud/{self.connection}", json=body)

    def change(self, sync: Json, **options: object) -> None:
        """Give a sync other options."""
        body = {"syncOptions": {"initialSyncBehavior": "overwrite-destination", **options}}
        self.admin.json("PATCH", _route(sync), json=body)

    def move(self, sync: Json, *, connection: str | None = None, **config: str) -> None:
        """Give a sync another place, or another connection."""
        body: Json = {"destinationConfig": {"region": "eu-west-1", **config}} if config else {}
        if connection is not None:
            body["connectionId"] = connection
        self.admin.json("PATCH", _route(sync), json=body)

    def connect(self, name: str) -> str:
        """Return the id of another connection to the same account."""
        body = {
            "name": name,
            "method": "access-key",
            "projectId": self.project.id,
            "credentials": self.account.credentials.written(),
        }
        made = self.admin.json("POST", "/api/v1/app-connections/cloud", json=body)["appConnection"]
        return str(made["id"])

    def delete(self, sync: Json) -> None:
        """Delete a sync with what it pushed."""
        self.admin.json("DELETE", f"{_route(sync)}?removeSecrets=true")

    def get(self, sync: Json) -> Json | None:
        """Return the sync as it is now; None: it is gone."""
        answer = self.admin.get(_route(sync))
        if answer.status_code == 404:
            return None
        found: Json = answer.json()["secretSync"]
        return found

    def ended(self, sync: Json, status: str = "succeeded", *, kind: str = "sync") -> Json:
        """Return the sync once what is done for it ended, which must be so."""

        def probe() -> Json | None:
            found = self.get(sync)
            return found if found is not None and found[f"{kind}Status"] in _ENDS else None

        found = eventually(probe, awaited=f"an end of the {kind}")
        assert found[f"{kind}Status"] == status, found[f"last{kind.title()}Message"]
        return found

    def holds(self, **wanted: str) -> None:
        """Wait until the test's path holds this and nothing else, and what did that is among the calls."""

        def probe() -> bool:
            return self.values == wanted and self.account.proxy.is_at_rest

        eventually(
            probe, awaited=f"{sorted(wanted)} in the parameter store", told=lambda: str(sorted(self.values))
        )

    @property
    def values(self) -> dict[str, str]:
        """What the test's path holds, by names without it."""
        return {
            name.removeprefix(self.path): value
            for name, value in self.account.parameter_values().items()
            if name.startswith(self.path)
        }

    def put_by_hand(self, **values: str) -> None:
        """Write as somebody else would."""
        for name, value in values.items():
            self.account.put_parameter(f"{self.path}{name}", value)

    def calls(self, since: int) -> list[str]:
        """Return what was asked with this test's credentials since so many calls.

        A sync of an earlier test may still be at work, with those of its own.
        """
        mine = self.account.credentials.access_key_id
        return [call.operation for call in self.account.proxy.calls[since:] if call.access_key_id == mine]

    @property
    def asked(self) -> int:
        """How many calls there were until now."""
        return len(self.account.proxy.calls)


def _route(sync: Json) -> str:
    return f"{_SYNCS}/{sync['destination']}/{sync['id']}"
