"""`keybearer audit verify`: what it says, to people and programs, and how it ends."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from support.audit_house import AuditHouse
from support.command_line import CommandLine
from support.databases import OwnDatabase

pytestmark = pytest.mark.every_database


@pytest.fixture
def house(own_database: OwnDatabase, tmp_path: Path) -> AuditHouse:
    house = AuditHouse(own_database, tmp_path / "data")
    house.directory.mkdir(mode=0o700)

    async def fill() -> None:
        await house.begin()
        await house.fill("A", "B", "C", "D")

    asyncio.run(fill())
    return house


@pytest.fixture
def keybearer(tmp_path: Path) -> CommandLine:
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(home)


def place(house: AuditHouse) -> list[str]:
    url = house.own.url
    return ["--data-dir", str(house.directory), *([] if url is None else ["--database-url", url])]


def test_a_log_that_nobody_edited(house: AuditHouse, keybearer: CommandLine) -> None:
    answer = keybearer("audit", "verify", *place(house))
    assert answer.status == 0, answer.stderr
    assert "4 lines were checked; nothing is wrong." in answer.stderr
    answer = keybearer("audit", "verify", *place(house), "--output", "json")
    assert answer.status == 0
    assert answer.json["ok"] is True
    assert [(chain["chain"], chain["lines"], chain["last"]) for chain in answer.json["chains"]] == [(1, 4, 4)]


def test_an_edited_log_is_told_with_writer_line_and_time(house: AuditHouse, keybearer: CommandLine) -> None:
    house.edit("DELETE FROM audit_log WHERE chain = 1 AND sequence = 2")
    answer = keybearer("audit", "verify", *place(house), "--output", "json")
    assert answer.status == 1
    (fault,) = answer.json["faults"]
    assert (fault["kind"], fault["firstLine"], fault["lastLine"]) == ("gap", 2, 2)
    assert fault["after"] < fault["before"]
    told = keybearer("audit", "verify", *place(house))
    assert told.status == 1
    assert (
        f"Wrong: lines were removed; chain 1; writer {fault['writer']}; line 2; "
        f"between {fault['after']} and {fault['before']}"
    ) in told.stderr


def test_a_database_put_back_as_a_whole_is_found_by_an_earlier_report(
    house: AuditHouse, keybearer: CommandLine, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    found = keybearer("audit", "verify", *place(house), "--output", "json").json
    report.write_text(json.dumps(found))
    assert keybearer("audit", "verify", *place(house), "--known", str(report)).status == 0
    found["chains"][0]["last"] = 9
    report.write_text(json.dumps(found))
    answer = keybearer("audit", "verify", *place(house), "--known", str(report))
    assert answer.status == 1
    assert "an earlier state was put back; chain 1" in answer.stderr
    report.write_text("{}")
    assert keybearer("audit", "verify", *place(house), "--known", str(report)).status == 2


def test_without_the_root_key_nothing_is_judged(house: AuditHouse, keybearer: CommandLine) -> None:
    (house.directory / "root.key").unlink()
    answer = keybearer("audit", "verify", *place(house))
    assert (answer.status, "root key" in answer.stderr) == (2, True)


def test_what_is_no_database_of_this_version_is_refused(keybearer: CommandLine, tmp_path: Path) -> None:
    assert keybearer("audit", "verify").status == 2
    answer = keybearer("audit", "verify", "--data-dir", str(tmp_path))
    assert (answer.status, "holds no database" in answer.stderr) == (2, True)


def test_a_database_of_an_earlier_version_is_refused(house: AuditHouse, keybearer: CommandLine) -> None:
    house.edit("UPDATE alembic_version SET version_num = '0021'")
    answer = keybearer("audit", "verify", *place(house))
    assert (answer.status, "of another version" in answer.stderr) == (2, True)
