"""The PostgreSQL of a run of tests, and the mark of those that ask for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.local.postgres import PostgresServer

__all__ = ["postgres", "pytest_collection_modifyitems"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that asks for PostgreSQL as deep, before tests are chosen by their marks."""
    for item in items:
        if isinstance(item, pytest.Function) and "postgres" in item.fixturenames:
            item.add_marker("deep")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Yield the server of this run, started when the first test asks."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()
