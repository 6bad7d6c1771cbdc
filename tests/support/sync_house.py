"""A project with a connection, and what is asked of its secret syncs; on a service without its engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from support.quiet_service import QuietService
from support.sync_bodies import app_of, new_sync

__all__ = ["SYNCS", "House", "open_house"]

Json = dict[str, Any]
SYNCS = "/api/v1/secret-syncs"
_VAULT = "hashicorp-vault"


@dataclass
class House:
    """What one test works with."""

    quiet: QuietService
    project: str
    connection: str

    async def create(self, destination: str = _VAULT, *, status: int = 200, **changes: object) -> Json:
        """Return a new sync, or the refusal; `changes` as `new_sync` takes them."""
        connection = self.connection
        if destination != _VAULT and "connectionId" not in changes:
            connection = await self.quiet.connection(app_of(destination), used_in=self.project)
        body = new_sync(destination, self.project, connection, **changes)
        answer = await self.quiet.admin.json("POST", f"{SYNCS}/{destination}", status=status, json=body)
        return answer["secretSync"] if status == 200 else answer

    async def get(self, sync: Json) -> Json:
        """Return the sync as it is now."""
        found: Json = (await self.quiet.admin.json("GET", self.path(sync)))["secretSync"]
        return found

    async def patch(self, sync: Json, *, status: int = 200, **changes: object) -> Json:
        """Return the changed sync, or the refusal."""
        answer = await self.quiet.admin.json("PATCH", self.path(sync), status=status, json=changes)
        return answer["secretSync"] if status == 200 else answer

    async def delete(self, sync: Json, *, status: int = 200, remove_secrets: bool = False) -> Json:
        """Return the deleted sync, or the refusal."""
        query = "?removeSecrets=true" if remove_secrets else ""
        answer = await self.quiet.admin.json("DELETE", f"{self.path(sync)}{query}", status=status)
        return answer["secretSync"] if status == 200 else answer

    async def ask(self, sync: Json, what: str, *, status: int = 200) -> Json:
        """Have something done for the sync: `sync-secrets`, `remove-secrets`, `import-secrets?importBehavior=…`."""
        answer = await self.quiet.admin.json("POST", f"{self.path(sync)}/{what}", status=status)
        return answer["secretSync"] if status == 200 else answer

    async def beside(self) -> House:
        """Return another project that may use the same connection."""
        project = await self.quiet.project()
        path = f"/api/v1/app-connections/{_VAULT}/{self.connection}/allowed-use"
        await self.quiet.admin.json("PATCH", path, json={"projectIds": [self.project, project]})
        return House(self.quiet, project, self.connection)

    def path(self, sync: Json) -> str:
        """Return where the sync is found."""
        return f"{SYNCS}/{sync['destination']}/{sync['id']}"


async def open_house(quiet: QuietService) -> House:
    """Return a house of its own, whose connection members of its project may use."""
    project = await quiet.project()
    return House(quiet, project, await quiet.connection(used_in=project))
