"""A small storm of kills over secret syncs; the whole one is the program `chaos.sync_storm`."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import pytest

from chaos.sync_storm import SyncStorm, SyncStormOptions
from support.databases import OwnDatabase
from tools.local.marks import find_mark

pytestmark = pytest.mark.deep


def test_however_often_the_service_is_killed_every_remote_holds_its_source_in_the_end(
    tmp_path: Path, own_database: OwnDatabase
) -> None:
    seed = secrets.randbelow(2**31)
    sys.stdout.write(f"seed {seed}\n")
    options = SyncStormOptions(syncs=20, connections=3, kills=5, seed=seed)

    report = SyncStorm(options, tmp_path, own_database).run()

    sys.stdout.write(f"{report}\n")
    assert report.violations == []
    assert report.kills_in_runs > 0
    logs = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert find_mark(logs) is None
