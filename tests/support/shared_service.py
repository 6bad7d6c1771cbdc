"""The one service that tests of a process share; they keep apart by making projects of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.canary import Canary
from support.databases import new_database
from support.service_fixtures import PUBLIC_URL, Service, start_service
from support.service_in_process import InProcessService, service_in_process

__all__ = ["service", "shared_service"]


@pytest.fixture(scope="session")
def shared_service(
    database_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """Yield the service: in this process on SQLite, as a process of its own on PostgreSQL."""
    data_dir = tmp_path_factory.mktemp("service") / "data"
    if database_kind == "sqlite":
        with service_in_process(data_dir, public_url=PUBLIC_URL) as running:
            yield running
        return
    process = start_service(
        data_dir,
        "--public-url",
        f"{PUBLIC_URL}/",
        database_url=new_database(database_kind, request).url,
        anew=True,
    )
    yield process
    process.stop()


@pytest.fixture
def service(shared_service: Service, canary: Canary) -> Iterator[Service]:
    """Yield the shared service; its log is searched for marked values after the test."""
    shared_service.show_log_to(canary)
    if isinstance(shared_service, InProcessService):
        with shared_service.logging():
            yield shared_service
    else:
        yield shared_service
