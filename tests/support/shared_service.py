"""The one service that tests of a process share; they keep apart by making projects of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.canary import Canary
from support.databases import new_database
from support.service_fixtures import PUBLIC_URL, Service, start_service
from support.service_in_process import service_in_process

__all__ = ["service", "service_process", "shared_service"]


@pytest.fixture(scope="session")
def shared_service(
    database_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """Yield the service: in this process on SQLite, as a process of its own on PostgreSQL."""
    data_dir = tmp_path_factory.mktemp("service") / "data"
    if database_kind == "sqlite":
        with service_in_process(data_dir, PUBLIC_URL) as running:
            yield running
    else:
        with service_process(data_dir, new_database(database_kind, request).url) as process:
            yield process


@contextmanager
def service_process(data_dir: Path, database_url: str | None) -> Iterator[Service]:
    """Yield `keybearer serve` as people start it, on SQLite without a URL."""
    # Its tests fail to log in on purpose, all from one address.
    flags = ("--public-url", f"{PUBLIC_URL}/", "--rate-limit", "failed-logins=1000000/1s")
    running = start_service(data_dir, *flags, database_url=database_url, anew=True)
    yield running
    running.stop()


@pytest.fixture
def service(shared_service: Service, canary: Canary) -> Service:
    """Return the shared service; its log is searched for marked values after the test."""
    shared_service.show_log_to(canary)
    return shared_service
