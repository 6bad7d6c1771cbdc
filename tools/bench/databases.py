"""A service on either kind of database, with nothing of an earlier run."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Literal

from tools.bench.errors import BenchError
from tools.bench.service import Service, running_service
from tools.bench.workload import Dimensions
from tools.local.postgres import PostgresServer

__all__ = ["NAMES", "DatabaseKind", "service_on"]

DatabaseKind = Literal["sqlite", "postgresql"]

NAMES: dict[DatabaseKind, str] = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@contextlib.asynccontextmanager
async def service_on(
    kind: DatabaseKind, directory: Path, dimensions: Dimensions, flags: Sequence[str] = ()
) -> AsyncIterator[Service]:
    """Run a new service with fresh sources while the block runs; logs and data are in the directory.

    Raises:
        BenchError: there is no PostgreSQL on this machine.
    """
    _empty(directory)
    async with _database_url(kind) as url, running_service(directory, dimensions, url, flags) as service:
        yield service


def _empty(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)


@contextlib.asynccontextmanager
async def _database_url(kind: DatabaseKind) -> AsyncIterator[str | None]:
    """Give what the service is told of its database; nothing for SQLite."""
    if kind == "sqlite":
        yield None
        return
    try:
        server = await asyncio.to_thread(PostgresServer)
    except RuntimeError as error:
        msg = f"there is no PostgreSQL to measure with: {error}"
        raise BenchError(msg) from error
    try:
        await asyncio.to_thread(server.start)
        yield server.url(await asyncio.to_thread(server.create))
    finally:
        await asyncio.to_thread(server.stop)
