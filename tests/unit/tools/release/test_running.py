"""Programs of a release get plain modes and a deadline, and what they said is told when they fail."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import pytest

from tools.controlplane.process import spawn
from tools.local.waiting import eventually
from tools.release import running as module
from tools.release.errors import ReleaseError
from tools.release.running import run

ENVIRONMENT = {"PATH": os.defpath}


def test_its_output_comes_back_and_its_files_have_plain_modes(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        said = run(["sh", "-c", "echo told >&2; echo said; touch file; pwd"], ENVIRONMENT, tmp_path)
    finally:
        os.umask(before)
    assert said == f"said\n{tmp_path}\n"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_a_failure_tells_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"^sh -c echo.*: status 3:\nsaid\ntold$"):
        run(["sh", "-c", "echo said; echo told >&2; exit 3"], ENVIRONMENT, tmp_path)


def test_one_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"^sleep 1000: not done within 0 s$"):
        run(["sleep", "1000"], ENVIRONMENT, tmp_path, within=0)


def test_all_that_it_started_is_killed_where_we_are_asked_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(
        command: Sequence[str | Path],
        *,
        output: IO[bytes],
        errors: IO[bytes],
        environment: Mapping[str, str],
        directory: Path,
    ) -> subprocess.Popen[bytes]:
        child = spawn(command, output=output, errors=errors, environment=environment, directory=directory)
        wait = child.wait

        def asked(timeout: float | None = None) -> int:
            assert timeout is not None
            monkeypatch.setattr(child, "wait", wait)
            eventually((tmp_path / "pid").exists, awaited="the grandchild")
            raise SystemExit

        monkeypatch.setattr(child, "wait", asked)
        return child

    monkeypatch.setattr(module, "spawn", interrupted)
    with pytest.raises(SystemExit):
        run(["sh", "-c", "sleep 1000 & echo $! > new && mv new pid; wait"], ENVIRONMENT, tmp_path)
    pid = int((tmp_path / "pid").read_text())
    eventually(lambda: not is_running(pid), awaited="the end of the grandchild")


def is_running(pid: int) -> bool:
    """Tell whether there is such a process that has not ended."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return said.rpartition(")")[2].split()[0] != "Z"
