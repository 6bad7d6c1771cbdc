"""What processes, retention and rotations do to the chains of the audit log, none of which is an edit."""

from __future__ import annotations

import asyncio
import base64
import os
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.domain.key_rotation import KeyRotation
from keybearer.store.audit import AuditRecord
from support.audit_house import AuditHouse, described, told
from support.databases import OwnDatabase

pytestmark = pytest.mark.every_database


@pytest.fixture
async def house(own_database: OwnDatabase, tmp_path: Path) -> AuditHouse:
    """Return a log of two processes that are gone: chain 1 of six lines, chain 2 of three."""
    house = AuditHouse(own_database, tmp_path)
    await house.begin()
    await house.fill("A", "B", "C", "D", "E", "F")
    await house.fill("G", "H", "I")
    return house


async def test_transactions_that_are_undone_leave_no_gap(house: AuditHouse) -> None:
    async with house.writer() as writer:
        await writer.write("J")
        with suppress(RuntimeError):
            async with writer.database.writing() as unit:
                await unit.audit(told("never"))
                raise RuntimeError
        with suppress(RuntimeError):
            async with writer.database.writing() as unit:
                await unit.audit(told("never"))
                await unit.store_audit()
                raise RuntimeError
        await writer.write("K")
    found = await house.verify()
    assert found.faults == ()
    assert [(chain.number, chain.lines) for chain in found.chains] == [(1, 6), (2, 3), (3, 2)]


async def test_transactions_at_the_same_time_have_chains_of_their_own(house: AuditHouse) -> None:
    async with house.writer() as writer:

        async def write(name: str) -> None:
            async with writer.database.writing() as unit:
                await unit.audit(told(name))

        for _ in range(3):
            await asyncio.gather(*(write(f"N{number}") for number in range(20)))
    found = await house.verify()
    assert found.faults == ()
    assert found.lines == 9 + 60
    assert len(found.chains) <= 2 + 4


async def test_replicas_that_write_at_the_same_time_have_chains_of_their_own(house: AuditHouse) -> None:
    async with house.writer() as one, house.writer() as other:
        for _ in range(3):
            await asyncio.gather(one.write("J", "K"), other.write("L", "M"))
    found = await house.verify()
    assert found.faults == ()
    assert [chain.lines for chain in found.chains] == [6, 3, 6, 6]


async def test_a_clock_that_is_put_back_is_no_edit(house: AuditHouse) -> None:
    async with house.writer() as writer:
        await writer.write("J")
        house.clock.seconds -= timedelta(days=2).total_seconds()
        await writer.write("K")
        await writer.trail.prune()
        house.clock.seconds += timedelta(days=91).total_seconds()
        await writer.trail.prune()
        await writer.write("L")
    found = await house.verify()
    assert found.faults == ()
    assert found.lines >= 1


async def test_retention_cuts_beginnings_and_says_so(house: AuditHouse) -> None:
    house.clock.seconds += timedelta(days=91).total_seconds()
    async with house.writer() as writer:
        await writer.write("J")
        await writer.trail.prune()
    found = await house.verify()
    assert found.faults == ()
    assert [(chain.number, chain.lines) for chain in found.chains] == [(3, 1)]
    assert (found.lines, found.cut) == (1, 9)


async def test_retention_cuts_a_chain_in_the_middle(house: AuditHouse) -> None:
    house.clock.seconds += timedelta(days=90).total_seconds() - 5
    async with house.writer() as writer:
        await writer.trail.prune()
    found = await house.verify()
    assert found.faults == ()
    (first, second) = found.chains
    assert (first.lines, first.cut, first.last, first.cut_why) == (2, 4, 6, "retention")
    assert (second.lines, second.cut) == (3, 0)
    house.edit("DELETE FROM audit_log WHERE chain = 1 AND sequence = 5")
    assert await house.faults() == [("gap", 1, 5, 5)]


async def test_what_was_edited_is_not_forgotten_when_its_time_comes(house: AuditHouse) -> None:
    house.edit(
        "DELETE FROM audit_log WHERE chain = 1 AND sequence = 2",
        "UPDATE audit_log SET actor_name = 'nobody' WHERE chain = 1 AND sequence = 5",
        "DELETE FROM audit_log WHERE chain = 2 AND sequence = 3",
    )
    house.clock.seconds += timedelta(days=91).total_seconds()
    async with house.writer() as writer:
        await writer.trail.prune()
    assert await house.faults() == [("gap", 1, 2, 2), ("changed", 1, 5, 5), ("truncated", 2, 3, 3)]
    house.clock.seconds += timedelta(days=91).total_seconds()
    async with house.writer() as writer:
        await writer.trail.prune()
    assert await house.faults() == []


async def test_a_process_whose_empty_chain_was_ended_goes_on_in_another(house: AuditHouse) -> None:
    async with house.writer() as writer:
        await writer.write("J")
        house.clock.seconds += timedelta(days=91).total_seconds()
        await writer.trail.prune()
        await writer.write("K", "L")
    found = await house.verify()
    assert found.faults == ()
    assert [(chain.number, chain.lines) for chain in found.chains] == [(4, 2)]


async def test_a_root_key_that_was_rotated_opens_the_log(house: AuditHouse) -> None:
    file = house.directory / "root.key"
    former = file.read_text()
    file.write_text(base64.b64encode(os.urandom(32)).decode() + "\n" + former)
    async with house.writer() as writer:
        rotation = KeyRotation(writer.database, house.source, house.clock)
        await rotation.start()
        await rotation.finish()
        await rotation.close()
        await writer.write("J")
    file.write_text(file.read_text().splitlines()[0] + "\n")
    found = await house.verify()
    assert found.faults == ()
    assert found.lines >= 10
    file.write_text(former)
    with pytest.raises(ConfigurationError, match="root key"):
        await house.verify()


async def test_a_commit_of_which_nobody_knows_begins_another_chain(
    house: AuditHouse,
) -> None:
    async with house.writer() as writer:
        await writer.write("J")

        async with writer.database.writing() as unit:
            await unit.audit(told("K"))
            await unit.store_audit()
            unit.settle_audit(committed=None)
        await writer.write("L")
    found = await house.verify()
    assert found.faults == ()
    assert [(chain.number, chain.lines) for chain in found.chains] == [(1, 6), (2, 3), (3, 2), (4, 1)]


async def test_a_line_that_is_written_directly_is_chained(house: AuditHouse) -> None:
    if house.own.server is not None:
        pytest.skip("SQLite alone is written directly")
    async with house.writer() as writer:
        record = AuditRecord.of(told("J"), house.clock.now())
        for number in range(3):
            await writer.database.write_directly(lambda _: None, [replace(record, id=f"direct-{number}")])
        await writer.write("K")
        house.edit("DELETE FROM audit_chains WHERE number = 3")
        await writer.database.write_directly(lambda _: None, [replace(record, id="direct-3")])
    found = await house.verify()
    assert [described(fault) for fault in found.faults] == [
        ("rolled-back", 3, None, 4),
        ("removed-chain", 3, None, 4),
    ]
    assert [(chain.number, chain.lines) for chain in found.chains] == [(1, 6), (2, 3), (3, 4), (4, 1)]
