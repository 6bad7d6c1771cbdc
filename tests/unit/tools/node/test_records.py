"""Records of clusters: whose are cleared, and whose are left alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tools.node import records
from tools.node.records import Claim, Record, clear_abandoned

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cgroups are Linux's")


@pytest.fixture
def ip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that knows no routes, on a machine without records."""
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = tmp_path / "ip"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def dead(ip: Path, tmp_path: Path) -> Record:  # noqa: ARG001 - which has moved the records
    """What somebody left who was killed."""
    with_files = tmp_path / "left"
    (with_files / "node-1").mkdir(parents=True)
    record = Record("0badcafe", 100, str(with_files), 1)
    records.RECORDS.mkdir()
    described = {"name": record.name, "number": 100, "directory": record.directory, "nodes": 1}
    (records.RECORDS / "0badcafe.json").write_text(json.dumps(described))
    return record


def test_a_claim_takes_its_files_and_its_record_with_it(ip: Path) -> None:
    with Claim(ip, 2) as claim:
        assert claim.directory.stat().st_mode & 0o777 == 0o700
        (claim.directory / "file").touch()
        assert _names() == {f"{claim.record.name}.json", "lock"}
    assert not claim.directory.exists()
    assert _names() == {"lock"}


def test_two_clusters_have_nothing_in_common(ip: Path) -> None:
    with Claim(ip, 1) as one, Claim(ip, 1) as other:
        assert one.record.number != other.record.number
        assert one.record.interface != other.record.interface
        assert one.record.cgroup(1) != other.record.cgroup(1)
        assert one.directory != other.directory


def test_an_interface_has_a_name_that_linux_takes(ip: Path) -> None:
    with Claim(ip, 1) as claim:
        assert len(claim.record.interface) <= 15


def test_whoever_begins_clears_what_the_dead_left(ip: Path, dead: Record) -> None:
    with Claim(ip, 1) as claim:
        assert claim.record.number == dead.number
        assert not Path(dead.directory).exists()
        assert _names() == {f"{claim.record.name}.json", "lock"}


def test_what_the_living_have_is_left_alone(ip: Path) -> None:
    with Claim(ip, 1) as claim:
        clear_abandoned(ip)
        assert claim.directory.exists()
        assert f"{claim.record.name}.json" in _names()


def test_a_record_that_was_never_finished_hinders_nobody(ip: Path) -> None:
    records.RECORDS.mkdir()
    (records.RECORDS / "unfinished").write_text('{"name": "0bad')
    with Claim(ip, 1) as claim:
        assert _names() == {f"{claim.record.name}.json", "lock"}


def _names() -> set[str]:
    return {path.name for path in records.RECORDS.iterdir()}
