"""The service under measurement: a real `keybearer serve` with a project, folders and secrets in it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict

import aiohttp
import orjson

from tools.bench.errors import BenchError
from tools.bench.workload import Dimensions, Source
from tools.controlplane.process import Process

__all__ = ["Admin", "Service", "Viewer", "announced", "command_path", "running_service", "values_of"]

_START = timedelta(seconds=60)
_STOP = timedelta(seconds=15)
_ENVIRONMENT = "dev"
_VALUE_LENGTH = 32


class _AdminFile(TypedDict):
    url: str
    organizationId: str
    identityId: str
    clientId: str
    clientSecret: str


@dataclass(frozen=True, slots=True)
class Viewer:
    """Credentials with one role in one project and nothing more."""

    client_id: str
    client_secret: str


@dataclass(frozen=True, slots=True)
class Service:
    """A service that runs and holds the sources.

    Attributes:
        url: where it listens itself, without the proxy.
        pid: its process.
        admin: for changing secrets past the proxy, so that it counts the operator's requests alone.
    """

    url: str
    pid: int
    admin: Admin
    sources: tuple[Source, ...]
    viewer: Viewer


def command_path() -> Path:
    """Return the `keybearer` command of this interpreter's environment."""
    return Path(sys.executable).with_name("keybearer")


def values_of(source: int, keys: int, revision: int = 0) -> dict[str, str]:
    """Return the values of a source; each revision differs from all others in every value."""
    return {
        f"KEY_{number}": f"value-{source}-{number}-r{revision}".ljust(_VALUE_LENGTH, ".")
        for number in range(keys)
    }


class Admin:
    """The service's API as its administrator.

    Args:
        session: has the base URL; borrowed.
        token: the access token.

    Attributes:
        session: the same.
        headers: what each request carries.
    """

    def __init__(self, session: aiohttp.ClientSession, token: str) -> None:
        self.session = session
        self.headers = {"Authorization": f"Bearer {token}"}

    async def create_sources(self, dimensions: Dimensions) -> tuple[Source, ...]:
        """One project with a folder for each source, and the secrets in them, exist."""
        project = await self._post("/api/v1/projects", {"projectName": "bench", "slug": "bench-project"})
        project_id = _text(project, "project", "id")
        sources = tuple(
            Source(project_id, _ENVIRONMENT, f"/source-{number}", values_of(number, dimensions.keys))
            for number in range(dimensions.sources)
        )
        for source in sources:
            folder = {"path": "/", "name": source.path.removeprefix("/")}
            await self._post(
                "/api/v2/folders", {"projectId": project_id, "environment": source.environment} | folder
            )
            for key, value in source.values.items():
                await self._post(f"/api/v4/secrets/{key}", _secret_body(source, value))
        return sources

    async def create_viewer(self, organization_id: str, project_id: str, *, role: str = "viewer") -> Viewer:
        """A machine identity exists with this role in the project, and fresh Universal Auth credentials."""
        newcomer = {"name": "bench-operator", "organizationId": organization_id, "role": "no-access"}
        identity = _text(await self._post("/api/v1/identities", newcomer), "identity", "id")
        membership = f"/api/v1/projects/{project_id}/memberships/identities/{identity}"
        await self._post(membership, {"roles": [{"role": role}]})
        method = f"/api/v1/auth/universal-auth/identities/{identity}"
        client_id = _text(await self._post(method, {}), "identityUniversalAuth", "clientId")
        client_secret = _text(await self._post(f"{method}/client-secrets", {}), "clientSecret")
        return Viewer(client_id, client_secret)

    async def change(self, source: Source, values: Mapping[str, str]) -> None:
        """The source has these values; they are written one after the other, the last answer is awaited."""
        for key, value in values.items():
            await self._send("PATCH", f"/api/v4/secrets/{key}", _secret_body(source, value))

    async def ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:  # noqa: ANN401 - its JSON
        """Return what the service answers."""
        return await self._send(method, path, body or {})

    async def _post(self, path: str, body: Mapping[str, object]) -> object:
        return await self._send("POST", path, body)

    async def _send(self, method: str, path: str, body: Mapping[str, object]) -> object:
        return await _send(self.session, method, path, body, self.headers)


def _secret_body(source: Source, value: str) -> dict[str, object]:
    return {
        "projectId": source.project_id,
        "environment": source.environment,
        "secretPath": source.path,
        "secretValue": value,
    }


async def _send(
    session: aiohttp.ClientSession,
    method: str,
    path: str,
    body: Mapping[str, object],
    headers: Mapping[str, str],
) -> object:
    async with session.request(method, path, json=body, headers=headers) as answer:
        if answer.status != 200:
            msg = f"the service answered {method} {path} with {answer.status}: {(await answer.text())[:400]}"
            raise BenchError(msg)
        parsed: object = await answer.json()
        return parsed


def _text(answer: object, *names: str) -> str:
    """Return the text at that place of an answer; BenchError when there is none."""
    found = answer
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, str):
        msg = f"the service's answer has no text at {'.'.join(names)}"
        raise BenchError(msg)
    return found


@contextlib.asynccontextmanager
async def running_service(
    directory: Path, dimensions: Dimensions, database_url: str | None = None, flags: Sequence[str] = ()
) -> AsyncIterator[Service]:
    """Run a new service with fresh sources while the block runs; its log is `directory/service.log`.

    Without a URL, its database is SQLite in that directory.
    """
    data = directory / "service"
    process = Process(
        "keybearer serve",
        [command_path(), "serve", f"--data-dir={data}", "--listen=127.0.0.1:0", *flags],
        directory / "service.log",
        environment={
            "PATH": os.defpath,
            "HOME": str(directory),
            **({} if database_url is None else {"KEYBEARER_DATABASE_URL": database_url}),
        },
    )
    async with announced(process) as url:
        admin_file: _AdminFile = orjson.loads((data / "admin.json").read_bytes())
        async with aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(total=30)) as session:
            credentials = {name: admin_file[name] for name in ("clientId", "clientSecret")}
            login = await _send(session, "POST", "/api/v1/auth/universal-auth/login", credentials, {})
            admin = Admin(session, _text(login, "accessToken"))
            sources = await admin.create_sources(dimensions)
            viewer = await admin.create_viewer(admin_file["organizationId"], sources[0].project_id)
            yield Service(url, process.pid, admin, sources, viewer)


@contextlib.asynccontextmanager
async def announced(process: Process) -> AsyncIterator[str]:
    """Run a server that prints its URL as one line of JSON while the block runs; give the URL."""
    await asyncio.to_thread(process.start)
    try:
        await asyncio.to_thread(
            process.wait_until, lambda: _url(process) is not None, awaited="print its URL", within=_START
        )
        yield _url(process) or ""
    finally:
        await asyncio.to_thread(process.terminate, grace=_STOP)


def _url(process: Process) -> str | None:
    """Return the URL of the one line of JSON that a server prints when it is ready."""
    for line in process.log_since_start().splitlines():
        with contextlib.suppress(orjson.JSONDecodeError):
            printed = orjson.loads(line)
            if isinstance(printed, dict) and set(printed) == {"url"}:
                return str(printed["url"])
    return None
