"""A run of the tests on nodes that is killed in the middle of an installation leaves nothing for good."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.real_nodes import Traces, descendants
from support.releases import RELEASE_SECONDS, Release
from tools.local.waiting import TEST_SECONDS, eventually
from tools.node.records import RECORDS, Record

# The first one waits for the release.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_RUN = ("-m", "pytest", "-p", "no:cacheprovider", "-m", "system", "--release=dist")
_TESTS = "tests/system/node/test_as_shipped.py"
_CLEARED_LATER = {"cgroups", "files", "records"}
"""What no kernel ends with its processes."""


@pytest.mark.usefixtures("fit_machine")
def test_what_a_killed_run_leaves_is_cleared_by_the_next_start(released: Release, tmp_path: Path) -> None:
    checkout = released.dist.parent
    log = tmp_path / "run.log"
    with _running(checkout, log) as (run, record):
        installing = Path(record.directory, "node-1", "pod-logs")
        eventually(
            lambda: any(installing.glob("keybearer_keybearer-operator-*")),
            awaited="a pod of the release, which Helm waits for",
            within=TEST_SECONDS,
            told=log.read_text,
        )
        traces = Traces(record, descendants(run.pid))
        assert traces.left().keys() > _CLEARED_LATER
        run.kill()
        run.wait()
    eventually(
        lambda: traces.left().keys() <= _CLEARED_LATER,
        awaited="an end of all that ran, by the kernel",
        told=lambda: str(traces.left()),
    )
    # As each start of nodes does it, and `make test-node` before them.
    subprocess.run([sys.executable, "-m", "tools.node", "--clear"], cwd=checkout, check=True)
    assert traces.left() == {}


@contextmanager
def _running(checkout: Path, log: Path) -> Iterator[tuple[subprocess.Popen[bytes], Record]]:
    """Yield a run of some tests of a release, and the record of its nodes; it is killed after the block."""
    before = set(RECORDS.glob("*.json"))
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [sys.executable, *_RUN, _TESTS], cwd=checkout, stdout=output, stderr=subprocess.STDOUT
        ) as run,
    ):
        try:
            (file,) = eventually(
                lambda: set(RECORDS.glob("*.json")) - before or None,
                awaited="nodes of the run",
                told=log.read_text,
            )
            yield run, Record(**json.loads(file.read_text()))
        finally:
            run.kill()
