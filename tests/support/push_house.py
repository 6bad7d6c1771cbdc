"""A project whose secrets a running service carries elsewhere, and the few calls that takes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from support.canary import Canary
from support.service_fixtures import Client, Project
from tools.local.waiting import eventually

__all__ = ["CONNECTIONS", "SYNCS", "House"]

CONNECTIONS = "/api/v1/app-connections"
SYNCS = "/api/v1/secret-syncs"


@dataclass
class House:
    """A project, and what is made in it."""

    admin: Client
    project: Project
    canary: Canary

    def connect(
        self, app: str, method: str, credentials: dict[str, str], *, status: int = 200
    ) -> dict[str, Any]:
        body = {"name": f"c-{uuid4()}", "method": method, "credentials": credentials}
        answer = self.admin.json("POST", f"{CONNECTIONS}/{app}", status=status, json=body)
        self.canary.watch("an answer about a connection", lambda: json.dumps(answer))
        return answer["appConnection"] if status == 200 else answer

    def sync(
        self,
        destination: str,
        connection: dict[str, Any],
        config: dict[str, Any],
        *,
        status: int = 200,
        **options: object,
    ) -> dict[str, Any]:
        body = {
            "name": f"s-{uuid4()}",
            "projectId": self.project.id,
            "connectionId": connection["id"],
            "environment": "dev",
            "secretPath": "/",
            "syncOptions": {"initialSyncBehavior": "overwrite-destination", **options},
            "destinationConfig": config,
        }
        answer = self.admin.json("POST", f"{SYNCS}/{destination}", status=status, json=body)
        return answer["secretSync"] if status == 200 else answer

    def ended(
        self, sync: dict[str, Any], status: str, *, after: str | None = None, kind: str = "Sync"
    ) -> dict[str, Any]:
        """Return the sync when its last job of that kind (Sync, Import, Remove) has that status."""
        path = f"{SYNCS}/{sync['destination']}/{sync['id']}"

        def probe() -> dict[str, Any] | None:
            found: dict[str, Any] = self.admin.json("GET", path)["secretSync"]
            is_new = found[f"last{kind}JobId"] not in (None, after)
            return found if found[f"{kind.lower()}Status"] == status and is_new else None

        found = eventually(probe, awaited=f"a {kind.lower()} that {status}")
        self.canary.watch("a sync", lambda: json.dumps(found))
        return found
