"""`keybearer serve` as a process that may die and come back, and the part of its API that runs need."""

from __future__ import annotations

import contextlib
import json
import os
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import httpx

from keybearer.client import ClientOptions, Keybearer, UniversalAuth
from tools.controlplane.ports import free_port
from tools.controlplane.process import Launch, Process
from tools.local.operator_process import keybearer_command
from tools.local.plain_http import KEPT, TRUSTS_NOBODY
from tools.local.waiting import PATIENCE, PATIENCE_SECONDS

__all__ = ["AdministeredService", "Login", "RestartableService", "ServiceAdmin", "SourceProject"]


@dataclass(frozen=True, slots=True)
class Login:
    """Universal Auth of a machine identity."""

    identity_id: str
    client_id: str
    client_secret: str = field(repr=False)

    def as_secret(self) -> dict[str, str]:
        """What an identity Secret holds."""
        return {"clientId": self.client_id, "clientSecret": self.client_secret}


class RestartableService:
    """A service over one data directory, always on the same port, started and stopped any number of times.

    Args:
        directory: private to it; holds data and log.
        name: how messages and files call it.
        flags: of `keybearer serve`, besides its data and address.
        launch: what starts it; as people do unless told otherwise.
    """

    def __init__(
        self,
        directory: Path,
        name: str = "service",
        flags: Sequence[str] = (),
        *,
        launch: Launch | None = None,
    ) -> None:
        self._data = directory / f"{name}-data"
        self.log_file = directory / f"{name}.log"
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._process = Process(
            name,
            [keybearer_command(), "serve", f"--data-dir={self._data}", f"--listen=127.0.0.1:{port}", *flags],
            self.log_file,
            environment={"PATH": os.defpath, "HOME": str(directory)},
            launch=launch,
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """It answers."""
        self._process.start()
        self._process.wait_until(self._has_announced, awaited="print its URL", within=PATIENCE)

    def stop(self) -> None:
        """It has ended in good order."""
        self._process.terminate(grace=PATIENCE)

    def kill(self) -> None:
        """It has ended at once, by SIGKILL."""
        self._process.kill()

    @property
    def pid(self) -> int:
        """Process id of the running program; ControlPlaneError when it doesn't run."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process.running

    @property
    def ca_pem(self) -> None:
        """It speaks plain HTTP."""

    def admin_file(self) -> dict[str, str]:
        """What the first start wrote for its administrator."""
        written: dict[str, str] = json.loads((self._data / "admin.json").read_text())
        return written

    def log(self, start: int = 0) -> str:
        """Its log from an offset in bytes."""
        with self.log_file.open("rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    def log_size(self) -> int:
        """How many bytes it has logged."""
        return self.log_file.stat().st_size

    def _has_announced(self) -> bool:
        for line in self._process.log_since_start().splitlines():
            with contextlib.suppress(ValueError):
                printed = json.loads(line)
                if isinstance(printed, dict) and printed.keys() == {"url"}:
                    return True
        return False


class AdministeredService(Protocol):
    """A service that runs somewhere."""

    @property
    def url(self) -> str:
        """Where it is reached."""

    @property
    def ca_pem(self) -> bytes | None:
        """Who signed its certificate; None: it speaks plain HTTP."""

    def admin_file(self) -> dict[str, str]:
        """Its administrator: `identityId`, `organizationId`, `clientId`, `clientSecret`."""


class ServiceAdmin:
    """The service as its administrator: the library where it has a method, plain HTTP where it has none.

    Args:
        service: what it is the administrator of.
        url: another place where that is reached, such as a balancer.
    """

    def __init__(self, service: AdministeredService, url: str | None = None) -> None:
        written = service.admin_file()
        where = url or service.url
        self._organization = written["organizationId"]
        self.login = Login(written["identityId"], written["clientId"], written["clientSecret"])
        login = UniversalAuth(self.login.client_id, self.login.client_secret)
        options = ClientOptions(timeout=PATIENCE, ca_pem=service.ca_pem)
        self.client = Keybearer(where, login, options=options)
        trust = TRUSTS_NOBODY
        if service.ca_pem is not None:
            trust = ssl.create_default_context(cadata=service.ca_pem.decode())
        self._http = httpx.Client(
            base_url=where, timeout=PATIENCE_SECONDS, verify=trust, trust_env=False, limits=KEPT
        )
        self._http.headers["Authorization"] = f"Bearer {self.new_token(self.login)}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()
        # The service may be gone by now, and with it the token.
        with contextlib.suppress(Exception):
            self.client.close()

    def new_project(self, slug: str) -> SourceProject:
        """A project with the environments dev, staging and prod, and nothing in it."""
        return SourceProject(self, self.client.projects.create(slug, slug=slug).id, slug)

    def new_login(self, *projects: str, role: str = "viewer", **universal_auth: object) -> Login:
        """A machine identity with this role in the projects, and its credentials.

        Args:
            projects: ids.
            role: viewer, member, admin or no-access.
            universal_auth: settings of the method, such as accessTokenTTL.
        """
        identity = self.send(
            "POST", "/api/v1/identities", {"name": "test", "organizationId": self._organization}
        )["identity"]["id"]
        for project in projects:
            self.send(
                "POST",
                f"/api/v1/projects/{project}/memberships/identities/{identity}",
                {"roles": [{"role": role}]},
            )
        method = f"/api/v1/auth/universal-auth/identities/{identity}"
        client_id = self.send("POST", method, universal_auth)["identityUniversalAuth"]["clientId"]
        client_secret = self.send("POST", f"{method}/client-secrets", {})["clientSecret"]
        return Login(identity, client_id, client_secret)

    def new_token(self, login: Login) -> str:
        """A fresh access token of an identity."""
        body = {"clientId": login.client_id, "clientSecret": login.client_secret}
        return str(self.send("POST", "/api/v1/auth/universal-auth/login", body)["accessToken"])

    def revoke_token(self, token: str) -> None:
        """The access token is worthless."""
        self.send("POST", "/api/v1/auth/token/revoke", {"accessToken": token})

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The answer; httpx.HTTPStatusError for a refusal."""
        answer = self._http.request(method, path, json=None if body is None else dict(body))
        answer.raise_for_status()
        parsed: dict[str, Any] = answer.json()
        return parsed


class SourceProject:
    """A project, and its secrets."""

    def __init__(self, admin: ServiceAdmin, project_id: str, slug: str) -> None:
        self._admin = admin
        self.id = project_id
        self.slug = slug

    def folder(self, path: str, environment: str = "dev") -> None:
        """The folder exists, with those above it."""
        parent, _, name = path.rstrip("/").rpartition("/")
        self._admin.client.folders.create(
            name, project_id=self.id, environment=environment, path=parent or "/"
        )

    def store(self, values: Mapping[str, str], path: str = "/", environment: str = "dev") -> None:
        """The folder has these secrets, by one transaction; others in it stay."""
        items = [{"secretKey": key, "secretValue": value} for key, value in values.items()]
        self._batch("PATCH", path, environment, items, mode="upsert")

    def remove(self, names: Sequence[str], path: str = "/", environment: str = "dev") -> None:
        """The folder has none of these secrets, by one transaction."""
        self._batch("DELETE", path, environment, [{"secretKey": name} for name in names])

    def _batch(
        self,
        method: str,
        path: str,
        environment: str,
        items: Sequence[Mapping[str, str]],
        **more: str,
    ) -> None:
        place = {"projectId": self.id, "environment": environment, "secretPath": path}
        self._admin.send(method, "/api/v4/secrets/batch", {**place, "secrets": list(items), **more})
