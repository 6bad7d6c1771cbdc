"""The PostgreSQL of a run of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.local.postgres import PostgresServer

__all__ = ["postgres"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Yield the server of this run, started when the first test asks."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()
