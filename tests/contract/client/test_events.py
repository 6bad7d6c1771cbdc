"""Both clients follow the events of a real service."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from keybearer.client import (
    AsyncEventStream,
    AsyncKeybearer,
    ChangedPlace,
    EventPlace,
    EventType,
    InvalidArgument,
    Keybearer,
    NotFound,
    PermissionDenied,
    ProjectEvent,
    RateLimited,
    StreamEnded,
    TransportError,
    UniversalAuth,
)
from support.service_fixtures import (
    Credentials,
    Project,
    ProjectSecrets,
    Service,
    start_service,
)
from tools.local.waiting import PATIENCE_SECONDS


def as_auth(credentials: Credentials) -> UniversalAuth:
    return UniversalAuth(credentials.client_id, credentials.client_secret)


@pytest.fixture
def project(service: Service) -> Project:
    return service.create_project()


@pytest.fixture
def secrets(service: Service, project: Project) -> ProjectSecrets:
    return ProjectSecrets(service.admin_client(), project)


async def next_event(stream: AsyncEventStream) -> ProjectEvent:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await anext(stream)


async def test_the_asynchronous_client_is_told_what_happens(
    service: Service, secrets: ProjectSecrets
) -> None:
    async with (
        AsyncKeybearer(service.url, as_auth(service.admin)) as client,
        await client.events.subscribe(project_id=secrets.project.id) as stream,
    ):
        await asyncio.to_thread(secrets.create, "KEY", "cnry-v")
        created = await next_event(stream)
        await asyncio.to_thread(secrets.delete, "KEY")
        deleted = await next_event(stream)
    place = ChangedPlace("dev", "/", "KEY")
    assert created == ProjectEvent("secret:create", (place,))
    assert deleted == ProjectEvent("secret:delete", (place,))


async def test_only_what_was_asked_for_is_told(service: Service, secrets: ProjectSecrets) -> None:
    secrets.folder("/app")
    async with (
        AsyncKeybearer(service.url, as_auth(service.admin)) as client,
        await client.events.subscribe(
            project_id=secrets.project.id,
            events=[EventType.SECRET_CREATE],
            places=[EventPlace("dev", "/app"), EventPlace("prod")],
        ) as stream,
    ):
        for key, environment, path in (("A", "dev", "/"), ("B", "dev", "/app"), ("C", "prod", "/")):
            await asyncio.to_thread(secrets.create, key, "cnry-v", environment=environment, path=path)
        told = [place.key for _ in range(2) for place in (await next_event(stream)).places]
    assert told == ["B", "C"]


def test_the_blocking_client_is_told_what_happens(service: Service, secrets: ProjectSecrets) -> None:
    with (
        Keybearer(service.url, as_auth(service.admin)) as client,
        client.events.subscribe(project_id=secrets.project.id) as stream,
    ):
        writing = threading.Thread(target=secrets.create, args=("KEY", "cnry-v"))
        writing.start()
        assert next(stream) == ProjectEvent("secret:create", (ChangedPlace("dev", "/", "KEY"),))
        writing.join()


async def test_refusals_are_told_apart(service: Service, project: Project) -> None:
    stranger = service.create_identity(roles={project.id: "no-access"})
    async with AsyncKeybearer(service.url, as_auth(stranger)) as client:
        with pytest.raises(PermissionDenied):
            await client.events.subscribe(project_id=project.id)
        with pytest.raises(NotFound):
            await client.events.subscribe(project_id="nowhere")
        with pytest.raises(InvalidArgument, match="at most 10"):
            await client.events.subscribe(project_id=project.id, places=[EventPlace("dev")] * 3)


async def test_a_sixth_stream_is_refused_until_one_is_closed(service: Service, project: Project) -> None:
    async with AsyncKeybearer(service.url, as_auth(service.admin)) as client:
        streams = [await client.events.subscribe(project_id=project.id) for _ in range(5)]
        with pytest.raises(RateLimited, match="Too many active connections for project"):
            await client.events.subscribe(project_id=project.id)
        for stream in streams:
            await stream.aclose()


async def test_a_revoked_token_ends_the_stream_and_the_next_one_has_a_fresh_token(
    service: Service, project: Project
) -> None:
    async with AsyncKeybearer(service.url, as_auth(service.admin)) as client:
        async with await client.events.subscribe(project_id=project.id) as stream:
            token = client.auth.access_token
            await asyncio.to_thread(
                service.client().json, "POST", "/api/v1/auth/token/revoke", json={"accessToken": token}
            )
            with pytest.raises(StreamEnded, match="Permission denied or refresh failed"):
                await next_event(stream)
        async with await client.events.subscribe(project_id=project.id):
            assert client.auth.access_token != token


async def test_a_service_that_stops_says_so_and_one_that_is_killed_cannot(tmp_path: Path) -> None:
    service = start_service(tmp_path / "data")
    project = service.create_project()
    credentials = as_auth(service.admin)
    client = AsyncKeybearer(service.url, credentials)
    async with await client.events.subscribe(project_id=project.id) as stream:
        await asyncio.to_thread(service.stop)
        with pytest.raises(StreamEnded, match="shutting down"):
            await next_event(stream)

    again = start_service(tmp_path / "data")
    other = AsyncKeybearer(again.url, credentials)
    async with await other.events.subscribe(project_id=project.id) as stream:
        await asyncio.to_thread(again.kill)
        with pytest.raises(TransportError):
            await next_event(stream)
    await client.aclose()
    await other.aclose()
