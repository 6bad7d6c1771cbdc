"""What one process commits, the others hear: through a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import URL

from keybearer.base.clock import SystemClock
from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, ProjectId
from keybearer.store.database import Database
from keybearer.store.engines import database_url
from keybearer.store.postgres_bus import CHANNEL
from keybearer.store.revisions import ChangeKind, Changes, ListChange
from support.async_waiting import until
from tools.local.postgres import PostgresServer


@pytest.fixture
def name(postgres: PostgresServer) -> Iterator[str]:
    name = postgres.create()
    yield name
    postgres.drop(name)


@pytest.fixture
def url(postgres: PostgresServer, name: str) -> URL:
    return database_url(postgres.url(name))


async def met(condition: Callable[[], object], *, awaited: str) -> None:
    async def probe() -> bool:
        return bool(condition())

    await until(probe, awaited=awaited)


class Hearer:
    """A process: its database, and what it heard."""

    def __init__(self, url: URL) -> None:
        self.database = Database(url, SystemClock())
        self.heard: list[Changes] = []
        self.gaps = 0
        self.database.bus.subscribe(self.heard.append, self._gap)

    def _gap(self) -> None:
        self.gaps += 1


@pytest.fixture
async def hearers(url: URL) -> AsyncIterator[list[Hearer]]:
    hearers = [Hearer(url), Hearer(url)]
    async with AsyncExitStack() as stack:
        for hearer in hearers:
            stack.push_async_callback(hearer.database.close)
            await stack.enter_async_context(hearer.database.following())
        await met(lambda: all(hearer.database.bus.hears for hearer in hearers), awaited="both listeners")
        yield hearers


async def test_a_commit_is_heard_by_every_process_once(hearers: list[Hearer]) -> None:
    async with hearers[0].database.writing() as unit:
        unit.changes.identities.add(IdentityId("i"))
        unit.changes.tokens.add("t")
    await met(lambda: all(hearer.heard for hearer in hearers), awaited="the change")
    told = Changes(identities={IdentityId("i")}, tokens={"t"})
    assert [hearer.heard for hearer in hearers] == [[told], [told]]


async def test_what_was_undone_is_heard_by_nobody(hearers: list[Hearer]) -> None:
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block is what is tested
        async with hearers[0].database.writing() as unit:
            unit.drop_token("undone")
            raise ZeroDivisionError
    async with hearers[0].database.writing() as unit:
        unit.drop_token("done")
    await met(lambda: hearers[1].heard, awaited="the later change")
    assert [changes.tokens for changes in hearers[1].heard] == [{"done"}]


async def test_more_than_one_message_holds_arrives_whole(hearers: list[Hearer]) -> None:
    changes = [
        ListChange(
            ChangeKind.UPDATED,
            ProjectId("p"),
            EnvironmentSlug("dev"),
            FolderPath("/f"),
            f"KEY_{number}",
        )
        for number in range(3_000)
    ]
    async with hearers[0].database.writing() as unit:
        unit.changes.folders.extend(changes)

    def told() -> list[ListChange]:
        return [change for heard in hearers[1].heard for change in heard.folders]

    await met(lambda: len(told()) == len(changes), awaited="all changes")
    assert len(hearers[1].heard) > 1
    assert told() == changes


async def test_a_lost_listener_tells_of_a_gap_trusts_nothing_and_comes_back(
    hearers: list[Hearer], postgres: PostgresServer, name: str
) -> None:
    before = [hearer.gaps for hearer in hearers]
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    await asyncio.to_thread(postgres.execute, name, f"{ended} AND datname = current_database()")
    # One gap when the connection went, one when the next one listens.
    await met(
        lambda: all(hearer.gaps >= gaps + 2 for hearer, gaps in zip(hearers, before, strict=True)),
        awaited="both gaps of each",
    )
    assert all(hearer.database.bus.hears for hearer in hearers)
    async with hearers[0].database.writing() as unit:
        unit.drop_token("later")
    await met(lambda: hearers[1].heard, awaited="the change after it")


async def test_a_message_of_an_unknown_version_is_taken_for_a_gap(
    hearers: list[Hearer], postgres: PostgresServer, name: str
) -> None:
    before = hearers[0].gaps
    await asyncio.to_thread(postgres.execute, name, f"NOTIFY {CHANNEL}, '[1, 2]'")
    await met(lambda: hearers[0].gaps > before, awaited="the gap")
    assert hearers[0].heard == []


async def test_before_it_listens_a_process_trusts_nothing_it_keeps(url: URL) -> None:
    database = Database(url, SystemClock())
    assert not database.bus.hears
    async with database.following():
        await met(lambda: database.bus.hears, awaited="the listener")
    assert not database.bus.hears
    await database.close()
