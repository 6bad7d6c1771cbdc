"""The service's application in this process, without what works in its background: what is queued stays queued.

Connections are put into its database as they are, since no remote has to vouch for their credentials here.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from pydantic import JsonValue
from starlette.types import ASGIApp

from keybearer.base.clock import Clock, SystemClock
from keybearer.base.ids import OrganizationId, ProjectId
from keybearer.domain.bootstrap import AdminCredentials, bootstrap
from keybearer.domain.outbound import Outbound
from keybearer.domain.server_keys import RootKeySource, unlock
from keybearer.server.app import create_app
from keybearer.server.context import ContextTerms, ServiceContext, build_context
from keybearer.store.database import Database
from keybearer.store.records import Organization
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.sync_jobs import SyncJob
from support.connection_rows import connection_row
from support.databases import OwnDatabase
from support.strict_answers import check_answer
from tools.local.postgres import PostgresServer

__all__ = ["IN_ONE_LOOP", "AsyncClient", "QuietService", "quiet", "quiet_service"]

IN_ONE_LOOP = pytest.mark.asyncio(loop_scope="module")
"""Mark of a module whose tests share one service: `pytestmark`."""

Json = dict[str, Any]


class AsyncClient(httpx.AsyncClient):
    """Speaks for one identity; every answer is held to its schema."""

    identity_id = ""

    async def json(self, method: str, path: str, *, status: int = 200, **options: object) -> Json:
        """Return the JSON object answered, which must come with that status."""
        response = await self.request(method, path, **options)  # type: ignore[arg-type] # httpx's own keywords
        assert response.status_code == status, f"{response.status_code}: {response.text}"
        content: Json = response.json()
        return content


@dataclass
class QuietService:
    """The application, its database, and its admin."""

    app: ASGIApp
    context: ServiceContext
    database: Database
    organization_id: OrganizationId
    stack: AsyncExitStack
    admin: AsyncClient = field(init=False)

    async def login(self, client_id: str, client_secret: str) -> AsyncClient:
        """Return a client of the identity with these credentials."""
        body = {"clientId": client_id, "clientSecret": client_secret}
        answer = await self._client(None).json("POST", "/api/v1/auth/universal-auth/login", json=body)
        return self._client(answer["accessToken"])

    async def member(
        self, roles: Mapping[str, str] | None = None, *, organization_role: str = "member"
    ) -> AsyncClient:
        """Return a client of a new identity, with one role in each project of `roles` (id to role)."""
        body = {"name": "member", "organizationId": self.organization_id, "role": organization_role}
        identity = (await self.admin.json("POST", "/api/v1/identities", json=body))["identity"]["id"]
        base = f"/api/v1/auth/universal-auth/identities/{identity}"
        auth = (await self.admin.json("POST", base, json={}))["identityUniversalAuth"]
        for project_id, role in (roles or {}).items():
            path = f"/api/v1/projects/{project_id}/memberships/identities/{identity}"
            await self.admin.json("POST", path, json={"roles": [{"role": role}]})
        secret = (await self.admin.json("POST", f"{base}/client-secrets", json={}))["clientSecret"]
        client = await self.login(auth["clientId"], secret)
        client.identity_id = str(identity)
        return client

    async def project(self) -> str:
        """Return the id of a new project with the environments dev, staging and prod."""
        body = {"projectName": "p", "slug": f"p-{secrets.token_hex(4)}"}
        answer = await self.admin.json("POST", "/api/v1/projects", json=body)
        return str(answer["project"]["id"])

    async def folder(self, project_id: str, path: str, environment: str = "dev") -> str:
        """Return the id of a new folder."""
        above, _, name = path.rpartition("/")
        body = {"projectId": project_id, "environment": environment, "name": name, "path": above or "/"}
        return str((await self.admin.json("POST", "/api/v2/folders", json=body))["folder"]["id"])

    async def other_organization(self) -> OrganizationId:
        """Return the id of another organization."""
        other = Organization(OrganizationId(str(uuid4())), "Other", "other", 1, self.database.clock.now())
        async with self.database.writing() as unit:
            await unit.identities.add_organization(other)
        return other.id

    async def connection(
        self,
        app: str = "hashicorp-vault",
        *,
        project_id: str | None = None,
        organization_id: OrganizationId | None = None,
        method: str = "none",
        credentials: Mapping[str, JsonValue] | None = None,
        used_in: str | None = None,
    ) -> str:
        """Return the id of a new connection: of a project, or of the organization, for one project or for admins."""
        now = self.database.clock.now()
        project = None if project_id is None else ProjectId(project_id)
        name = f"to-{app}-{secrets.token_hex(4)}"
        connection = connection_row(organization_id or self.organization_id, project, name, app, method, now)
        if used_in is not None:
            connection = replace(connection, allowed_project_ids=(used_in,))
        async with self.database.writing() as unit:
            await unit.app_connections.add(connection, credentials or {"token": "cnry-token"})
        return connection.id

    async def stored(self, sync_id: str) -> SecretSync | None:
        """Return what the database holds of a sync."""
        async with self.database.reading() as unit:
            return await unit.secret_syncs.get(sync_id)

    async def jobs(self, sync_id: str) -> list[SyncJob]:
        """Return the jobs of a sync, by kind."""
        async with self.database.reading() as unit:
            return sorted(await unit.sync_jobs.of_syncs([sync_id]), key=lambda job: job.kind)

    def _client(self, token: str | None) -> AsyncClient:
        client = AsyncClient(
            transport=httpx.ASGITransport(self.app, client=("127.0.0.1", 1)),
            base_url="http://quiet",
            headers={} if token is None else {"authorization": f"Bearer {token}"},
            event_hooks={"response": [_check]},
        )
        self.stack.push_async_callback(client.aclose)
        return client


@asynccontextmanager
async def quiet_service(
    directory: Path,
    own: OwnDatabase,
    *,
    clock: Clock | None = None,
    terms: ContextTerms | None = None,
    outbound: Outbound | None = None,
) -> AsyncIterator[QuietService]:
    """Yield the application on a database of its own.

    Args:
        directory: private to it.
        own: the database.
        clock: of all of it; the system's by default.
        terms: how it behaves.
        outbound: whom it may ask; nobody on loopback by default. Borrowed.
    """
    clock = clock or SystemClock()
    database = Database(own.engine_url(directory), clock)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        await database.prepare()
        keys = await unlock(database, RootKeySource(directory / "root.key"))
        handed: list[AdminCredentials] = []
        await bootstrap(database, keys, clock, handed.append)
        context = build_context(database, keys, clock, terms=terms or ContextTerms(), outbound=outbound)
        stack.push_async_callback(context.audit.close)
        quiet = QuietService(
            create_app(context), context, database, OrganizationId(handed[0].organization_id), stack
        )
        quiet.admin = await quiet.login(handed[0].client_id, handed[0].client_secret)
        yield quiet


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def quiet(
    database_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[QuietService]:
    """Yield one for the tests of a module; they keep apart by making projects of their own."""
    own = OwnDatabase()
    if database_kind == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        own = OwnDatabase(server, server.create())
    async with quiet_service(tmp_path_factory.mktemp("quiet"), own) as service:
        yield service
    if own.server is not None:
        own.server.drop(own.name)


async def _check(response: httpx.Response) -> None:
    await response.aread()
    check_answer(response)
