"""The service is killed at every step of an issuance: what it answered is there, and what is there is whole.

So who looks for the request before asking again, as the operator does, has one certificate for each revision.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from support.killed_issuing import REVISION
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.deep

_ROWS = {
    "certificate": "SELECT count(*) FROM certificates WHERE common_name = 'a'",
    "request": "SELECT count(*) FROM certificate_requests WHERE status = 'issued' AND certificate_id IS NOT NULL",
    "metadata": "SELECT count(*) FROM certificate_request_metadata",
    "audit": "SELECT count(*) FROM audit_log WHERE event_type = 'issue-certificate'",
}


def _left(database: Path) -> dict[str, int]:
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = connection.execute("SELECT key, value FROM certificate_request_metadata").fetchall()
        assert set(found) <= {REVISION}
        return {name: connection.execute(question).fetchone()[0] for name, question in _ROWS.items()}


def _ended(directory: Path, way: str) -> Sequence[dict[str, object]]:
    """Return what became of each process."""
    done = subprocess.run(
        [sys.executable, "-m", "support.killed_issuing", str(directory), way],
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path), "PATH": ""},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("way", ["csr", "key"])
def test_at_each_step_all_of_it_is_there_or_nothing(tmp_path: Path, way: str) -> None:
    ended = _ended(tmp_path, way)
    left = [_left(tmp_path / str(one["number"]) / "keybearer.db") for one in ended]

    nothing, whole = dict.fromkeys(_ROWS, 0), dict.fromkeys(_ROWS, 1)
    assert [one["killed"] for one in ended] == [True] * (len(ended) - 1) + [False]
    assert ended[-1]["status"] == 0
    # Up to the commit nothing is there, and from then on everything: before it is answered, and after.
    assert left == [nothing] * (len(left) - 2) + [whole] * 2
    assert len(left) >= 6
