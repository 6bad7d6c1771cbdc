"""A small storm of kills; the whole one is the program `chaos.kill_storm`."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import pytest

from chaos.kill_storm import Storm, StormOptions
from tools.local.marks import find_mark

pytestmark = [pytest.mark.deep, pytest.mark.integration]


def test_whatever_is_killed_every_target_holds_a_committed_revision_and_in_the_end_the_newest(
    tmp_path: Path,
) -> None:
    seed = secrets.randbelow(2**31)
    sys.stdout.write(f"seed {seed}\n")
    options = StormOptions(objects=150, kills=6, service_kills=1, seed=seed)

    report = Storm(options, tmp_path).run()

    assert report.violations == []
    assert report.checks == 8
    logs = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert find_mark(logs) is None
