"""Go modules of others whose files tests read: locked by a go.mod and go.sum of ours, and never built."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tools.controlplane.environment import go_environment
from tools.controlplane.errors import BuildError
from tools.controlplane.toolchain import go_command
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["module_sources"]


def module_sources(lock: Path, name: str) -> Path:
    """The directory of a locked module, downloaded if need be; its content is checked against go.sum.

    Args:
        lock: the directory of the go.mod that requires it.
        name: of the module.

    Raises:
        BuildError: it can't be had.
    """
    answer = subprocess.run(
        [go_command(lock), "mod", "download", "-json", name],
        cwd=lock,
        env=go_environment(),
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_SECONDS,
        check=False,
    )
    if answer.returncode != 0:
        raise BuildError(f"go mod download of {name} ended with status {answer.returncode}:\n{answer.stderr}")
    return Path(json.loads(answer.stdout)["Dir"])
