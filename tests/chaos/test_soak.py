"""A soak of a few seconds; the whole one is `make soak`."""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import orjson
import pytest
from rich.console import Console

from tools.local.waiting import PATIENCE_SECONDS
from tools.soak.options import Rates, SoakOptions
from tools.soak.progress import Screen
from tools.soak.report import unmet, write_report
from tools.soak.run import Soak

pytestmark = [pytest.mark.deep, pytest.mark.integration]


async def test_after_changes_kills_and_faults_every_secret_equals_its_source_and_planted_faults_are_found(
    tmp_path: Path,
) -> None:
    seed = secrets.randbelow(2**31)
    sys.stdout.write(f"seed {seed}\n")
    options = SoakOptions(
        directory=tmp_path,
        minutes=0.2,
        syncs=20,
        seed=seed,
        sources=4,
        namespaces=2,
        rates=Rates(changes=3, hands=3, edits=1, calm_seconds=(0.5, 1.0), fault_seconds=(1.0, 2.0)),
        disturbances=("leader ended (SIGTERM)", "connections cut", "5xx answered"),
        settle_seconds=1.5 * PATIENCE_SECONDS,
        rest_seconds=2,
    )

    with Screen(Console()) as screen:
        record = await Soak(options, screen, asyncio.Event()).run()
    page = write_report(record, tmp_path)

    assert unmet(record) == []
    assert record.checks[-1].name.startswith("two faults that were planted")
    assert record.settled_seconds is not None
    assert record.disturbances
    assert record.freshness.all is not None
    assert record.repairs.all is not None
    kinds = {action.partition(":")[0] for action in record.actions}
    assert kinds >= {"source", "Secret", "SecretSync"}
    assert orjson.loads((tmp_path / "soak.json").read_bytes())["passed"] is True
    for picture in ("freshness.svg", "memory.svg", "calls.svg"):
        assert f"({picture})" in page.read_text()
        ET.parse(tmp_path / picture)  # noqa: S314 - our own
