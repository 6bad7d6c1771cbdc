"""Lines of versions without chains are chained while the service works; after that, none may come without one."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.store.audit_chain.verification import Known
from support.audit_house import AS_BEFORE_CHAINS, AuditHouse, described, told
from support.databases import OwnDatabase

pytestmark = pytest.mark.every_database

UNCHAINED = (
    "INSERT INTO audit_log SELECT '{name}', created_at, organization_id, project_id, actor_kind, actor_id, '{name}', "
    "event_type, ip_address, user_agent, request_id, details, NULL, NULL, NULL FROM audit_log "
    "WHERE actor_name = 'robot' ORDER BY created_at LIMIT 1"
)


@pytest.fixture
async def house(own_database: OwnDatabase, tmp_path: Path) -> AuditHouse:
    """Return a log of nine lines that an earlier version wrote."""
    house = AuditHouse(own_database, tmp_path)
    await house.begin()
    await house.fill("A", "B", "C", "D", "E", "F", "G", "H", "I")
    house.edit(*AS_BEFORE_CHAINS)
    return house


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keybearer.domain.audit_trail._TAKEN_IN_AT_ONCE", 2)


async def test_lines_of_an_earlier_version_wait_and_are_not_wrong(house: AuditHouse) -> None:
    await house.fill("J")
    found = await house.verify()
    assert found.faults == ()
    assert (found.lines, found.waiting, found.taken_in) == (10, 9, 0)


@pytest.mark.usefixtures("few_at_once")
async def test_they_are_chained_in_their_order_and_an_edit_of_them_is_placed(house: AuditHouse) -> None:
    async with house.writer() as writer:
        await writer.write("J")
        await writer.trail.take_in()
        await writer.write("K")
    found = await house.verify()
    assert found.faults == ()
    assert (found.lines, found.waiting, found.taken_in) == (11, 0, 9)
    assert [(chain.number, chain.lines, chain.is_taken_in) for chain in found.chains] == [
        (1, 2, False),
        (2, 9, True),
    ]
    house.edit(
        "UPDATE audit_log SET actor_name = 'nobody' WHERE chain = 2 AND sequence = 3",
        "DELETE FROM audit_log WHERE chain = 2 AND sequence IN (6, 9)",
    )
    assert await house.faults() == [("changed", 2, 3, 3), ("gap", 2, 6, 6), ("truncated", 2, 9, 9)]


@pytest.mark.usefixtures("few_at_once")
async def test_a_process_that_is_killed_while_it_chains_them_leaves_the_rest_to_the_next(
    house: AuditHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    async with house.writer() as writer:
        done: list[object] = []
        taken = writer.trail.take_in_some

        async def until_killed(place: object) -> object:
            if len(done) == 2:
                raise Killed
            done.append(place)
            return await taken(place)  # type: ignore[arg-type] # passed on as it is

        monkeypatch.setattr(writer.trail, "take_in_some", until_killed)
        with pytest.raises(Killed):
            await writer.trail.take_in()
    found = await house.verify()
    assert (found.faults, found.waiting, found.taken_in) == ((), 5, 4)
    async with house.writer() as writer:
        await writer.trail.take_in()
    found = await house.verify()
    assert (found.faults, found.waiting, found.taken_in) == ((), 0, 9)


@pytest.mark.usefixtures("few_at_once")
async def test_two_processes_chain_them_once(house: AuditHouse) -> None:
    async with house.writer() as one, house.writer() as other:
        place = await one.trail.take_in_some(None)
        assert place is not None
        await other.trail.take_in()
        await one.trail.take_in_some(place)
        await one.trail.take_in()
    found = await house.verify()
    assert (found.faults, found.waiting, found.taken_in) == ((), 0, 9)


async def test_a_transaction_that_is_undone_while_they_are_chained_leaves_them_as_they_were(
    house: AuditHouse,
) -> None:
    async with house.writer() as writer:
        with suppress(RuntimeError):
            async with writer.database.writing() as unit:
                await unit.audit_log.take_in(None, limit=3)
                raise RuntimeError
        found = await house.verify()
        assert (found.faults, found.waiting) == ((), 9)
        await writer.trail.take_in()
    found = await house.verify()
    assert (found.faults, found.waiting, found.taken_in) == ((), 0, 9)


async def test_a_chain_that_is_edited_while_they_are_chained_is_noticed(house: AuditHouse) -> None:
    async with house.writer() as writer:
        async with writer.database.writing() as unit:
            place = await unit.audit_log.take_in(None, limit=3)
        house.edit("DELETE FROM audit_chains WHERE number = 1")
        async with writer.database.writing() as unit:
            await unit.audit_log.take_in(place, limit=3)
        await writer.trail.take_in()
    found = await house.verify()
    assert [described(fault) for fault in found.faults] == [
        ("rolled-back", 1, None, 3),
        ("removed-chain", 1, None, 3),
    ]
    assert (found.waiting, found.taken_in) == (0, 9)


async def test_lines_that_replicas_of_an_earlier_version_still_write_are_chained_for_an_hour(
    house: AuditHouse,
) -> None:
    async with house.writer() as writer:
        await writer.trail.take_in()
        house.edit(UNCHAINED.format(name="late"))
        house.clock.seconds += 1800
        await writer.trail.take_in()
        await writer.trail.take_in()
        found = await house.verify()
        assert (found.faults, found.waiting, found.taken_in) == ((), 0, 10)
        house.clock.seconds += 1801
        await writer.trail.take_in()
        house.edit(UNCHAINED.format(name="inserted"))
        await writer.trail.take_in()
    (fault,) = (await house.verify()).faults
    assert (fault.kind.value, fault.lines) == ("unchained", 1)
    assert fault.after is not None


@pytest.mark.parametrize(
    "edit",
    ["created_at = 'x'", "created_at = x'ff'", "details = 'no JSON'", "actor_name = x'ff'", "id = x'ff'"],
)
@pytest.mark.usefixtures("few_at_once")
async def test_what_no_column_should_hold_is_chained_as_well_and_reported(
    house: AuditHouse, edit: str
) -> None:
    if house.own.server is not None:
        pytest.skip("SQLite alone stores it")
    house.edit(f"UPDATE audit_log SET {edit} WHERE id = (SELECT min(id) FROM audit_log)")  # noqa: S608 - our own
    async with house.writer() as writer:
        await writer.trail.take_in()
        await writer.trail.prune()
        found = await house.verify()
        assert [fault.kind.value for fault in found.faults] == ["changed"]
        assert (found.waiting, found.taken_in) == (0, 9)
        house.clock.seconds += timedelta(days=91).total_seconds()
        await writer.trail.prune()
    found = await house.verify()
    assert (found.lines, found.waiting, [fault.kind.value for fault in found.faults]) == (0, 0, ["changed"])


async def test_in_a_database_that_begins_with_chains_no_line_comes_without_one(
    own_database: OwnDatabase, tmp_path: Path
) -> None:
    house = AuditHouse(own_database, tmp_path)
    await house.begin()
    async with house.writer() as writer:
        await writer.write("A")
        house.edit(UNCHAINED.format(name="inserted"))
        await writer.trail.take_in()
    (fault,) = (await house.verify()).faults
    assert (fault.kind.value, fault.lines) == ("unchained", 1)


async def test_what_was_inserted_without_a_chain_is_not_forgotten_when_its_time_comes(
    own_database: OwnDatabase, tmp_path: Path
) -> None:
    house = AuditHouse(own_database, tmp_path)
    await house.begin()
    await house.fill("A")
    house.edit(UNCHAINED.format(name="inserted"))
    house.clock.seconds += timedelta(days=91).total_seconds()
    async with house.writer() as writer:
        await writer.trail.prune()
    (fault,) = (await house.verify()).faults
    assert (fault.kind.value, fault.lines, fault.noted_at is not None) == ("unchained", 1, True)


async def test_whoever_takes_lines_out_of_their_chains_has_them_chained_by_nobody(house: AuditHouse) -> None:
    async with house.writer() as writer:
        await writer.trail.take_in()
    house.edit(*AS_BEFORE_CHAINS[:-1])
    async with house.writer() as writer:
        await writer.trail.take_in()
        await writer.trail.prune()
    found = await house.verify()
    assert [described(fault) for fault in found.faults] == [
        ("register", None, None, None),
        ("unchained", None, None, None),
    ]


async def test_retention_cuts_lines_that_wait_and_lines_that_were_taken_in(house: AuditHouse) -> None:
    house.clock.seconds += timedelta(days=90).total_seconds() - 5
    async with house.writer() as writer:
        await writer.write("J")
        await writer.trail.prune()
        found = await house.verify()
        assert (found.faults, found.waiting, found.cut) == ((), 4, 5)
        await writer.trail.take_in()
        house.clock.seconds += 2
        await writer.trail.prune()
    found = await house.verify()
    assert (found.faults, found.waiting, found.taken_in, found.cut) == ((), 0, 2, 7)


async def test_an_earlier_report_knows_the_lines_that_were_taken_in(house: AuditHouse) -> None:
    async with house.writer() as writer:
        await writer.trail.take_in()
    found = await house.verify()
    known = Known(found.revision, {chain.number: chain.last for chain in found.chains})
    async with house.writer() as writer, writer.database.writing() as unit:
        await unit.audit(told("J"))
    assert (await house.verify(known)).faults == ()
