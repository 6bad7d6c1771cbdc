"""A real `keybearer serve` process for tests, and what they need in it: clients, projects, identities."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

import httpx
import pytest
from pydantic import BaseModel

from keybearer.interface.shapes import Shape
from support.canary import Canary
from support.databases import OwnDatabase, sqlite_with_tables
from support.preloaded import RunningProgram, can_preload, spawn_preloaded
from support.strict_answers import check_answer
from tools.controlplane.process import spawn
from tools.local.plain_http import TRUSTS_NOBODY
from tools.local.waiting import PATIENCE_SECONDS

__all__ = [
    "PUBLIC_URL",
    "Client",
    "Credentials",
    "Model",
    "Person",
    "Project",
    "ProjectSecrets",
    "Service",
    "ServiceProcess",
    "Starter",
    "Strict",
    "start",
    "start_service",
]

Model = TypeVar("Model", bound=BaseModel)

PUBLIC_URL = "http://pki.example.com"
"""What certificates of the shared service say of where it is reached; nobody is there."""


@dataclass(frozen=True)
class Credentials:
    """What an identity logs in with."""

    identity_id: str
    client_id: str
    client_secret: str = field(repr=False)


@dataclass(frozen=True)
class Person:
    """What a user logs in with."""

    user_id: str
    email: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Project:
    """A project with the environments dev, staging and prod."""

    id: str
    slug: str


class Client(httpx.Client):
    """An httpx client that speaks for one identity."""

    def json(self, method: str, path: str, *, status: int = 200, **options: object) -> dict[str, Any]:
        """Return the JSON object answered, which must come with that status."""
        response = self.request(method, path, **options)  # type: ignore[arg-type] # httpx's own keywords
        assert response.status_code == status, f"{response.status_code}: {response.text}"
        content: dict[str, Any] = response.json()
        return content


@dataclass
class Service:
    """A running service."""

    url: str
    data_dir: Path
    log: Path
    _clients: list[Client] = field(default_factory=list, repr=False)
    _admin: Client | None = field(default=None, repr=False)

    @property
    def admin(self) -> Credentials:
        """The identity that the first start made."""
        written = json.loads((self.data_dir / "admin.json").read_text())
        return Credentials(written["identityId"], written["clientId"], written["clientSecret"])

    @property
    def organization_id(self) -> str:
        """The only organization."""
        organization_id: str = json.loads((self.data_dir / "admin.json").read_text())["organizationId"]
        return organization_id

    def login(self, credentials: Credentials) -> str:
        """Return a fresh access token."""
        return str(
            self.client().json(
                "POST",
                "/api/v1/auth/universal-auth/login",
                json={"clientId": credentials.client_id, "clientSecret": credentials.client_secret},
            )["accessToken"]
        )

    def client(self, token: str | None = None) -> Client:
        """Return a client with this token; closed with the service."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        client = Client(
            base_url=self.url,
            headers=headers,
            timeout=PATIENCE_SECONDS,
            trust_env=False,
            verify=TRUSTS_NOBODY,
            transport=self._transport(),
            event_hooks={"response": [check_answer]},
        )
        self._clients.append(client)
        return client

    def _transport(self) -> httpx.BaseTransport | None:
        """Return what carries requests to it; connections to its URL when None."""

    def close_clients(self) -> None:
        """No client of it holds anything any more."""
        for client in self._clients:
            client.close()
        self._clients.clear()
        self._admin = None

    def admin_client(self) -> Client:
        """Return the client of the admin."""
        if self._admin is None:
            self._admin = self.client(self.login(self.admin))
        return self._admin

    def create_project(self, *, name: str = "project") -> Project:
        """Make a project of the admin."""
        slug = f"{name}-{secrets.token_hex(4)}"
        body = {"projectName": name, "slug": slug}
        project = self.admin_client().json("POST", "/api/v1/projects", json=body)["project"]
        return Project(str(project["id"]), slug)

    def create_identity(
        self,
        *,
        name: str = "identity",
        organization_role: str = "no-access",
        roles: Mapping[str, str] | None = None,
        **universal_auth: object,
    ) -> Credentials:
        """Make an identity that can log in, with one role in each project of `roles` (id to role).

        Further keywords go into its Universal Auth configuration, as they are spelt on the wire.
        """
        admin = self.admin_client()
        body = {"name": name, "organizationId": self.organization_id, "role": organization_role}
        identity = admin.json("POST", "/api/v1/identities", json=body)["identity"]
        identity_id = str(identity["id"])
        base = f"/api/v1/auth/universal-auth/identities/{identity_id}"
        auth = admin.json("POST", base, json=universal_auth)["identityUniversalAuth"]
        for project_id, role in (roles or {}).items():
            path = f"/api/v1/projects/{project_id}/memberships/identities/{identity_id}"
            admin.json("POST", path, json={"roles": [{"role": role}]})
        client_secret = admin.json("POST", f"{base}/client-secrets", json={})["clientSecret"]
        return Credentials(identity_id, str(auth["clientId"]), str(client_secret))

    def create_user(
        self, *, organization_role: str = "no-access", roles: Mapping[str, str] | None = None
    ) -> Person:
        """Make a user, with one role in each project of `roles` (id to role)."""
        admin = self.admin_client()
        email, password = f"{secrets.token_hex(6)}@example.com", f"cnry-{secrets.token_hex(8)}"
        body = {"email": email, "password": password, "role": organization_role}
        user = admin.json("POST", "/api/v1/users", json=body)["user"]
        for project_id, role in (roles or {}).items():
            named = {"usernames": [email], "roleSlugs": [role]}
            admin.json("POST", f"/api/v1/projects/{project_id}/memberships", json=named)
        return Person(str(user["id"]), email, password)

    def login_user(self, person: Person) -> str:
        """Return a fresh access token of the user."""
        body = {"email": person.email, "password": person.password}
        return str(self.client().json("POST", "/api/v3/auth/login", json=body)["accessToken"])

    def create_secret(
        self, project: Project, key: str, value: str, *, environment: str = "dev", path: str = "/"
    ) -> None:
        """Store a secret as the admin."""
        body = {
            "projectId": project.id,
            "environment": environment,
            "secretPath": path,
            "secretValue": value,
        }
        self.admin_client().json("POST", f"/api/v4/secrets/{key}", json=body)

    def show_log_to(self, canary: Canary) -> None:
        """Have what it logs from here on searched for marked values after the test."""
        start = self.log.stat().st_size

        def written() -> str:
            with self.log.open("rb") as log:
                log.seek(start)
                return log.read().decode(errors="replace")

        canary.watch("log of keybearer serve", written)


@dataclass
class ServiceProcess(Service):
    """A service that is a process. `log` is what it wrote to stderr."""

    process: RunningProgram = field(kw_only=True)

    def kill(self) -> None:
        """End the process as a power failure would, without a word to it."""
        self.process.kill()
        self._ended()

    def stop(self) -> int:
        """Ask the process to end, and return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        self.close_clients()
        status = self.process.wait(PATIENCE_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return status


@dataclass
class ProjectSecrets:
    """The secrets of one project, as one client sees them through v4."""

    client: Client
    project: Project

    def at(self, environment: str = "dev", path: str = "/") -> dict[str, str]:
        return {"projectId": self.project.id, "environment": environment, "secretPath": path}

    def list(self, *, environment: str = "dev", path: str = "/", **query: str) -> list[dict[str, Any]]:
        params = {**self.at(environment, path), **query}
        found: list[dict[str, Any]] = self.client.json("GET", "/api/v4/secrets", params=params)["secrets"]
        return found

    def values(self, *, environment: str = "dev", path: str = "/", **query: str) -> dict[str, str]:
        listed = self.list(environment=environment, path=path, **query)
        return {secret["secretKey"]: secret["secretValue"] for secret in listed}

    def get(
        self, key: str, *, status: int = 200, environment: str = "dev", path: str = "/", **query: str
    ) -> dict[str, Any]:
        params = {**self.at(environment, path), **query}
        answer = self.client.json("GET", f"/api/v4/secrets/{key}", status=status, params=params)
        return answer["secret"] if status == 200 else answer

    def create(
        self,
        key: str,
        value: str,
        *,
        status: int = 200,
        environment: str = "dev",
        path: str = "/",
        **more: object,
    ) -> dict[str, Any]:
        body = {**self.at(environment, path), "secretValue": value, **more}
        answer = self.client.json("POST", f"/api/v4/secrets/{key}", status=status, json=body)
        return answer["secret"] if status == 200 else answer

    def update(
        self, key: str, *, status: int = 200, environment: str = "dev", path: str = "/", **change: object
    ) -> dict[str, Any]:
        body = {**self.at(environment, path), **change}
        answer = self.client.json("PATCH", f"/api/v4/secrets/{key}", status=status, json=body)
        return answer["secret"] if status == 200 else answer

    def delete(
        self, key: str, *, status: int = 200, environment: str = "dev", path: str = "/", **more: object
    ) -> dict[str, Any]:
        body = {**self.at(environment, path), **more}
        answer = self.client.json("DELETE", f"/api/v4/secrets/{key}", status=status, json=body)
        return answer["secret"] if status == 200 else answer

    def folder(self, path: str, *, environment: str = "dev") -> dict[str, Any]:
        above, _, name = path.rpartition("/")
        body = {"projectId": self.project.id, "environment": environment, "name": name, "path": above or "/"}
        folder: dict[str, Any] = self.client.json("POST", "/api/v2/folders", json=body)["folder"]
        return folder


class Strict(Protocol):
    """A check that an answer has the fields of a wire model, or of a shape, and no others; it returns the model."""

    @overload
    def __call__(self, model: type[Model], answer: dict[str, Any]) -> Model: ...

    @overload
    def __call__(self, model: type[Shape], answer: dict[str, Any]) -> Any:  # noqa: ANN401 - a model made of the shape
        ...


class Starter(Protocol):
    """Starts `keybearer serve` as `start_service` does, always on the one database of a test."""

    def __call__(
        self,
        data_dir: Path,
        *flags: str,
        environment: Mapping[str, str] | None = None,
        scheme: str = "http",
        anew: bool = False,
    ) -> ServiceProcess:
        """Return it when it accepts connections."""
        ...


def start_service(
    data_dir: Path,
    *flags: str,
    environment: Mapping[str, str] | None = None,
    scheme: str = "http",
    database_url: str | None = None,
    anew: bool = False,
) -> ServiceProcess:
    """Start `keybearer serve` on a free port and return when it accepts connections.

    Without a URL, its database is SQLite in the data directory. `anew`: as people start it, by its program
    and without a database; tests of starting do.

    Raises:
        RuntimeError: it ended instead; the text is what it said.
    """
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    if database_url is None and not anew:
        sqlite_with_tables(data_dir)
    log = data_dir.parent / f"{data_dir.name}.log"
    program = Path(sys.executable).with_name("keybearer")
    command = [str(program), "serve", "--data-dir", str(data_dir)]
    given = {} if database_url is None else {"KEYBEARER_DATABASE_URL": database_url}
    arguments = [*command, "--listen", "127.0.0.1:0", *flags]
    variables = {**os.environ, **given, **(environment or {})}  # noqa: TID251 - it needs PATH and HOME
    process: RunningProgram
    with log.open("ab") as stderr:
        if anew or not can_preload():
            process = spawn(arguments, output=subprocess.PIPE, errors=stderr, environment=variables)
        else:
            process = spawn_preloaded(arguments, output=subprocess.PIPE, errors=stderr, environment=variables)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        status = process.wait(PATIENCE_SECONDS)
        process.stdout.close()
        raise RuntimeError(f"keybearer serve ended with {status}: {log.read_text()}")
    url = str(json.loads(line)["url"])
    assert url.startswith(f"{scheme}://")
    return ServiceProcess(url, data_dir, log, process=process)


@pytest.fixture
def start(own_database: OwnDatabase) -> Starter:
    """Return what starts services of a test's own, all on one database."""
    return partial(start_service, database_url=own_database.url)
