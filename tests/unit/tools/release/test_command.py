"""`python -m tools.release` when it is asked to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.chart.rendering import ROOT
from tools.local.waiting import PATIENCE_SECONDS, eventually


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_whoever_stops_it_is_told_so_in_one_line(asked: signal.Signals, tmp_path: Path) -> None:
    git, begun = tmp_path / "git", tmp_path / "begun"
    git.write_text(f"#!/bin/sh\n: > '{begun}'\nexec sleep {PATIENCE_SECONDS}\n")
    git.chmod(0o700)
    with subprocess.Popen(
        [sys.executable, "-m", "tools.release", f"--output={tmp_path / 'dist'}"],
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:{os.defpath}", "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as release:
        eventually(begun.exists, awaited="a release that waits for git")
        release.send_signal(asked)
        said, _ = release.communicate(timeout=PATIENCE_SECONDS)
    assert (release.returncode, said) == (1, "stopped: run make release again\n")
    assert not (tmp_path / "dist").exists()
