"""Whoever edits the audit log in the database is found out, and told where."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.store.audit_chain.verification import Known
from keybearer.store.unit import UnitOfWork
from support.audit_house import AuditHouse, described, told
from support.databases import OwnDatabase

pytestmark = pytest.mark.every_database

COPIED = (
    "INSERT INTO audit_log SELECT 'forged', created_at, organization_id, project_id, actor_kind, actor_id, 'forger', "
    "event_type, ip_address, user_agent, request_id, details, {place} FROM audit_log WHERE chain = 1 AND sequence = 3"
)
KEPT = ("audit_log", "audit_chains", "audit_register")
LINES = ("A", "B", "C", "D", "E", "F")


@pytest.fixture
async def house(own_database: OwnDatabase, tmp_path: Path) -> AuditHouse:
    """Return a log of two processes that are gone: chain 1 of six lines, chain 2 of three."""
    house = AuditHouse(own_database, tmp_path)
    await house.begin()
    await house.fill(*LINES)
    await house.fill("G", "H", "I")
    return house


async def test_what_nobody_edited_is_right(house: AuditHouse) -> None:
    found = await house.verify()
    assert found.faults == ()
    assert [(chain.number, chain.lines, chain.last) for chain in found.chains] == [(1, 6, 6), (2, 3, 3)]
    assert (found.lines, found.waiting, found.cut) == (9, 0, 0)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        pytest.param(
            ["DELETE FROM audit_log WHERE chain = 1 AND sequence IN (2, 3)"],
            [("gap", 1, 2, 3)],
            id="lines in the middle are removed",
        ),
        pytest.param(
            ["DELETE FROM audit_log WHERE chain = 1 AND sequence = 1"],
            [("gap", 1, 1, 1)],
            id="the first line is removed",
        ),
        pytest.param(
            ["UPDATE audit_log SET actor_name = 'nobody' WHERE chain = 1 AND sequence = 4"],
            [("changed", 1, 4, 4)],
            id="who did it is changed",
        ),
        pytest.param(
            ['UPDATE audit_log SET details = \'{"key": "Z"}\' WHERE chain = 1 AND sequence = 6'],
            [("changed", 1, 6, 6)],
            id="what was done is changed in the last line",
        ),
        pytest.param(
            ["UPDATE audit_log SET created_at = created_at + 1 WHERE chain = 2 AND sequence = 1"],
            [("changed", 2, 1, 1)],
            id="when it was done is changed by a millisecond",
        ),
        pytest.param(
            [
                (
                    "UPDATE audit_log SET mac = (SELECT mac FROM audit_log WHERE chain = 1 AND sequence = 2) "
                    "WHERE chain = 1 AND sequence = 3"
                )
            ],
            [("changed", 1, 3, 4)],  # the next line is over the MAC that was there
            id="a MAC is taken from another line",
        ),
        pytest.param(
            [
                "UPDATE audit_log SET sequence = -1 WHERE chain = 1 AND sequence = 3",
                "UPDATE audit_log SET sequence = 3 WHERE chain = 1 AND sequence = 4",
                "UPDATE audit_log SET sequence = 4 WHERE chain = 1 AND sequence = -1",
            ],
            [("moved", 1, 3, 4)],
            id="two lines change places",
        ),
        pytest.param(
            [
                COPIED.format(place="1, 7, mac"),
            ],
            [("inserted", 1, 7, 7)],
            id="a line is put behind the end",
        ),
        pytest.param(
            [
                "UPDATE audit_log SET sequence = -sequence WHERE chain = 1 AND sequence > 3",
                "UPDATE audit_log SET sequence = 1 - sequence WHERE chain = 1 AND sequence < 0",
                COPIED.format(place="1, 4, mac"),
            ],
            [("changed", 1, 4, 4), ("moved", 1, 5, 7), ("changed-end", 1, 7, 7)],
            id="a line is put between others, which move up",
        ),
        pytest.param(
            [
                COPIED.format(place="NULL, NULL, NULL"),
            ],
            [("unchained", None, None, None)],
            id="a line of no chain is inserted",
        ),
        pytest.param(
            ["UPDATE audit_log SET sequence = NULL WHERE chain = 1 AND sequence = 3"],
            [("gap", 1, 3, 3), ("unknown-chain", 1, None, None)],
            id="a line loses its number",
        ),
        pytest.param(
            ["DELETE FROM audit_log WHERE chain = 1 AND sequence > 4"],
            [("truncated", 1, 5, 6)],
            id="lines at the end are removed",
        ),
        pytest.param(
            [
                "DELETE FROM audit_log WHERE chain = 1 AND sequence > 4",
                (
                    "UPDATE audit_chains SET sequence = 4, "
                    "mac = (SELECT mac FROM audit_log WHERE chain = 1 AND sequence = 4) WHERE number = 1"
                ),
            ],
            [("changed-end", 1, None, None)],
            id="lines at the end are removed and the end is moved",
        ),
        pytest.param(
            ["DELETE FROM audit_log WHERE chain = 2"],
            [("truncated", 2, 1, 3)],
            id="all lines of a chain are removed",
        ),
        pytest.param(
            ["DELETE FROM audit_log WHERE chain = 2", "DELETE FROM audit_chains WHERE number = 2"],
            [("removed-chain", 2, None, 0)],
            id="a chain is removed with its end",
        ),
        pytest.param(
            [
                "UPDATE audit_log SET chain = 3 WHERE chain = 2",
                "UPDATE audit_chains SET number = 3 WHERE number = 2",
            ],
            [("removed-chain", 2, None, 0), ("unknown-chain", 3, None, None)],
            id="a chain gets another number",
        ),
        pytest.param(
            ["UPDATE audit_chains SET number = -2 WHERE number = 2"],
            [("removed-chain", 2, None, 3), ("unknown-chain", -2, None, None)],
            id="the end of a chain gets a number that no chain has",
        ),
        pytest.param(
            ["UPDATE audit_chains SET number = 2147483647 WHERE number = 2"],
            [("removed-chain", 2, None, 3), ("unknown-chain", 2147483647, None, None)],
            id="the end of a chain gets the highest number",
        ),
        pytest.param(
            ["UPDATE audit_log SET chain = 2147483647 WHERE chain = 1 AND sequence = 3"],
            [("gap", 1, 3, 3), ("unknown-chain", 2147483647, None, None)],
            id="a line gets the highest number of a chain",
        ),
        pytest.param(
            [
                "UPDATE audit_log SET chain = 1073741824 WHERE chain = 1 AND sequence = 3",
                "UPDATE audit_chains SET number = 1073741825 WHERE number = 2",
            ],
            [
                ("gap", 1, 3, 3),
                ("removed-chain", 2, None, 3),
                ("unknown-chain", 1073741824, None, None),
                ("unknown-chain", 1073741825, None, None),
            ],
            id="the numbers of the next chains are taken",
        ),
        pytest.param(
            [
                "DELETE FROM audit_log WHERE chain = 2",
                "UPDATE audit_log SET chain = 2 WHERE chain = 1 AND sequence <= 3",
            ],
            [("gap", 1, 1, 3), ("changed", 2, 1, 3), ("changed-end", 2, None, None)],
            id="lines of a chain are put into another",
        ),
        pytest.param(
            ["DELETE FROM audit_register"],
            [
                ("register", None, None, None),
                ("unknown-chain", 1, None, None),
                ("unknown-chain", 2, None, None),
            ],
            id="the register is removed",
        ),
        pytest.param(
            ["DELETE FROM server_keys WHERE name = 'audit log'"],
            [
                ("register", None, None, None),
                ("unknown-chain", 1, None, None),
                ("unknown-chain", 2, None, None),
            ],
            id="the key is removed",
        ),
    ],
)
async def test_an_edit_is_found_and_placed(
    house: AuditHouse, edits: list[str], expected: list[tuple[str, int | None, int | None, int | None]]
) -> None:
    house.edit(*edits)
    assert await house.faults() == expected
    await house.fill("J")  # a process that starts afterwards hides nothing of it
    assert (await house.faults())[: len(expected)] == expected


async def test_a_second_line_under_a_number_is_found_on_any_page(
    house: AuditHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keybearer.store.audit_chain.verification._AT_ONCE", 3)
    house.edit("DROP INDEX ix_audit_log_chain_sequence", COPIED.format(place="1, 3, mac"))
    assert ("inserted", 1, 3, 3) in await house.faults()


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("UPDATE audit_log SET details = 'no JSON' WHERE chain = 1 AND sequence = 3", ("changed", 1, 3, 3)),
        ("UPDATE audit_log SET created_at = 'x' WHERE chain = 1 AND sequence = 3", ("changed", 1, 3, 3)),
        ("UPDATE audit_log SET actor_name = x'00' WHERE chain = 1 AND sequence = 3", ("changed", 1, 3, 3)),
        ("UPDATE audit_log SET id = x'ff' WHERE chain = 1 AND sequence = 3", ("changed", 1, 3, 3)),
        ("UPDATE audit_log SET mac = 'x' WHERE chain = 1 AND sequence = 6", ("changed", 1, 6, 6)),
        ("UPDATE audit_log SET sequence = 'x' WHERE chain = 1 AND sequence = 3", ("gap", 1, 3, 3)),
        ("UPDATE audit_log SET chain = 'x' WHERE chain = 1 AND sequence = 3", ("gap", 1, 3, 3)),
        ("UPDATE audit_log SET chain = x'ff' WHERE chain = 1 AND sequence = 3", ("gap", 1, 3, 3)),
        ("UPDATE audit_log SET chain = x'ff' WHERE chain = 1", ("unknown-chain", None, None, None)),
        ("UPDATE audit_log SET chain = 2.5 WHERE chain = 2", ("unknown-chain", None, None, None)),
        ("UPDATE audit_log SET chain = -9e999 WHERE chain = 2 AND sequence = 1", ("gap", 2, 1, 1)),
        ("UPDATE audit_chains SET mac = 'x' WHERE number = 2", ("changed-end", 2, None, None)),
        ("UPDATE audit_chains SET sequence = -1 WHERE number = 2", ("changed-end", 2, None, None)),
        ("UPDATE audit_chains SET sequence = 'x' WHERE number = 2", ("changed-end", 2, None, None)),
        (
            "UPDATE audit_chains SET number = 9223372036854775807 WHERE number = 2",
            ("removed-chain", 2, None, 3),
        ),
        ("UPDATE audit_register SET content = 'x'", ("register", None, None, None)),
    ],
)
async def test_what_no_column_should_hold_is_told_and_ends_no_check(
    house: AuditHouse, edit: str, expected: tuple[str, int | None, int | None, int | None]
) -> None:
    if house.own.server is not None:
        pytest.skip("SQLite alone stores it")
    house.edit(edit)
    assert expected in await house.faults()
    house.clock.seconds += timedelta(days=91).total_seconds()
    async with house.writer() as writer:
        await writer.write("J")
        await writer.trail.prune()
    assert expected[0] in [kind for kind, *_ in await house.faults()]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("UPDATE audit_chains SET sequence = 'x' WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_chains SET sequence = x'ff' WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_chains SET sequence = 7.5 WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_chains SET sequence = -1 WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_chains SET sequence = 1 WHERE number = 3", ("rolled-back", 3, 1, 2)),
        ("UPDATE audit_chains SET sequence = 7 WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_chains SET sequence = 7, mac = 'x' WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_chains SET sequence = 7, end_mac = 'x' WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_chains SET number = 2147483647 WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_chains SET number = -3 WHERE number = 3", ("rolled-back", 3, None, 2)),
        ("UPDATE audit_log SET chain = 'x' WHERE chain = 3", ("gap", 3, 1, 2)),
    ],
)
async def test_a_process_goes_on_writing_whatever_its_chain_becomes(
    house: AuditHouse, edit: str, expected: tuple[str, int | None, int | None, int | None]
) -> None:
    if house.own.server is not None and any(text in edit for text in ("'x'", "x'ff'", "7.5")):
        pytest.skip("SQLite alone stores it")
    async with house.writer() as writer:
        await writer.write("J", "K")
        house.edit(edit)
        await writer.write("L", "M")
        await writer.trail.prune()
    await house.fill("N")
    found = await house.verify()
    assert expected in [described(fault) for fault in found.faults]
    assert found.lines + sum(fault.lines or 0 for fault in found.faults) >= 9 + 5


async def test_a_line_that_is_put_where_the_next_one_goes_costs_a_transaction_and_no_more(
    house: AuditHouse,
) -> None:
    async def work(unit: UnitOfWork) -> None:
        await unit.audit(told("L"))

    async with house.writer() as writer:
        await writer.write("J", "K")
        house.edit(COPIED.format(place="3, 3, mac"))
        await writer.database.write(work)
        await writer.write("M")
    found = await house.verify()
    assert [described(fault) for fault in found.faults] == [("inserted", 3, 3, 3)]
    assert [(chain.number, chain.lines) for chain in found.chains] == [(1, 6), (2, 3), (3, 3), (4, 2)]


async def test_a_gap_is_told_with_the_times_around_it_and_its_writer(house: AuditHouse) -> None:
    house.edit("DELETE FROM audit_log WHERE chain = 1 AND sequence IN (2, 3)")
    found = await house.verify()
    (fault,) = found.faults
    assert fault.writer_id == found.chains[0].writer_id
    assert fault.after is not None
    assert fault.before is not None
    assert fault.before - fault.after == timedelta(seconds=3)


async def test_a_register_that_was_removed_is_told_by_the_next_process_too(house: AuditHouse) -> None:
    house.edit("DELETE FROM audit_register")
    await house.fill("J")
    found = await house.verify()
    assert [fault.kind.value for fault in found.faults] == ["register", "unknown-chain", "unknown-chain"]
    assert found.faults[0].noted_at is not None
    assert [(chain.number, chain.lines) for chain in found.chains] == [(3, 1)]


async def test_a_chain_that_was_left_in_order_cannot_be_rolled_back(house: AuditHouse) -> None:
    async with house.writer() as writer:
        await writer.write("J", "K")
        row = house.edit("SELECT sequence FROM audit_chains WHERE number = 3").strip()
        house.edit("CREATE TABLE kept AS SELECT * FROM audit_chains WHERE number = 3")
        await writer.write("L", "M")
        await writer.trail.close()
    assert row == "2"
    house.edit(
        "DELETE FROM audit_log WHERE chain = 3 AND sequence > 2",
        "DELETE FROM audit_chains WHERE number = 3",
        "INSERT INTO audit_chains SELECT * FROM kept",
        "DROP TABLE kept",
    )
    assert await house.faults() == [("rolled-back", 3, 3, 4)]


async def test_a_process_notices_that_its_chain_was_rolled_back_and_goes_on_in_another(
    house: AuditHouse,
) -> None:
    async with house.writer() as writer:
        await writer.write("J", "K")
        house.edit("CREATE TABLE kept AS SELECT * FROM audit_chains WHERE number = 3")
        await writer.write("L")
        house.edit(
            "DELETE FROM audit_log WHERE chain = 3 AND sequence > 2",
            "DELETE FROM audit_chains WHERE number = 3",
            "INSERT INTO audit_chains SELECT * FROM kept",
            "DROP TABLE kept",
        )
        assert await house.faults() == []  # the state of before, which nobody can tell from a backup
        await writer.write("M", "N")
    found = await house.verify()
    assert [described(fault) for fault in found.faults] == [
        ("rolled-back", 3, 2, 3),
        ("rolled-back", 3, 3, 3),
    ]
    assert [(chain.number, chain.lines) for chain in found.chains] == [(1, 6), (2, 3), (3, 2), (4, 2)]


async def test_a_database_that_was_put_back_as_a_whole_is_right_but_for_who_knows_better(
    house: AuditHouse,
) -> None:
    house.edit(*(f"CREATE TABLE kept_{table} AS SELECT * FROM {table}" for table in KEPT))  # noqa: S608 - our tables
    await house.fill("J", "K")
    later = await house.verify()
    for table in KEPT:
        house.edit(
            f"DELETE FROM {table}",  # noqa: S608 - our tables
            f"INSERT INTO {table} SELECT * FROM kept_{table}",  # noqa: S608 - our tables
            f"DROP TABLE kept_{table}",
        )
    assert (await house.verify()).faults == ()
    known = Known(later.revision, {chain.number: chain.last for chain in later.chains})
    found = await house.verify(known)
    assert [described(fault) for fault in found.faults] == [
        ("rolled-back", None, None, None),
        ("rolled-back", 3, None, 2),
    ]
