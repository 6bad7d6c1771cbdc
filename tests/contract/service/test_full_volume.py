"""A service whose volume takes nothing more: it goes on, says so, and is whole again once there is room."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest

from keybearer.client import Keybearer, ServerFailure, UniversalAuth
from support.canary import Canary
from support.service_fixtures import ServiceProcess, start_service

_ROOM_BYTES = 1024 * 1024
"""Less than SQLite lets the file beside the database grow to; more than the log of these requests."""
_SECRET_BYTES = 50_000


@pytest.fixture
def service(tmp_path: Path, canary: Canary) -> Iterator[ServiceProcess]:
    running = start_service(tmp_path / "data")
    canary.watch("log", running.log.read_text)
    yield running
    assert running.stop() == 0, running.log.read_text()


@contextmanager
def without_room(service: ServiceProcess) -> Iterator[None]:
    """No file of the service can grow past a size within, as if its volume were full."""
    former = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (_ROOM_BYTES, former[1]))
    try:
        yield
    finally:
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, former)


def written_until_refused(client: Keybearer, project: str) -> ServerFailure:
    for number in range(_ROOM_BYTES // _SECRET_BYTES + 2):
        try:
            store(client, project, f"KEY_{number}")
        except ServerFailure as refused:
            return refused
    pytest.fail("all of it was written")


def store(client: Keybearer, project: str, name: str) -> None:
    client.secrets.create(name, "cnry-" + "x" * _SECRET_BYTES, project_id=project, environment="dev")


def names(client: Keybearer, project: str) -> list[str]:
    return sorted(one.secret_key for one in client.secrets.list(project_id=project, environment="dev"))


def test_what_cannot_be_written_is_refused_reading_goes_on_and_room_mends_it(service: ServiceProcess) -> None:
    login = UniversalAuth(service.admin.client_id, service.admin.client_secret)
    with Keybearer(service.url, login) as client:
        project = client.projects.create("my-shop", slug="my-shop").id
        with without_room(service):
            refused = written_until_refused(client, project)
            assert refused.status == HTTPStatus.SERVICE_UNAVAILABLE
            assert "the volume of the database" in str(refused)
            before = names(client, project)
            assert before
            for number in range(3):
                with pytest.raises(ServerFailure, match="the volume of the database"):
                    store(client, project, f"LATER_{number}")
            assert names(client, project) == before
            assert service.process.poll() is None, service.log.read_text()
        # At the first try: what failed last is no burden to who comes next.
        store(client, project, "THEN")
        assert names(client, project) == sorted([*before, "THEN"])
        with Keybearer(service.url, login) as another:
            assert names(another, project) == names(client, project)
    assert '"request_failed"' not in service.log.read_text()
