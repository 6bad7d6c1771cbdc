"""Commands of pages, run as by somebody who pastes them into a shell in a checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from tools.chart.helm import helm_binary
from tools.chart.rendering import ROOT
from tools.controlplane.binaries import control_plane_binaries
from tools.controlplane.environment import kubectl_environment
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["PastedCommandError", "Shell", "blocks"]

_SECONDS = 2.4 * PATIENCE_SECONDS
_INDENTED = re.compile(r"(?:^ {4,}\S.*\n(?:\n(?= {4}))?)+", re.MULTILINE)


class PastedCommandError(Exception):
    """A command failed; the text is what it wrote to standard error."""


def blocks(text: str) -> list[str]:
    """Return the indented blocks of a text, each without its indentation."""
    found = _INDENTED.findall(f"{text}\n")
    return [textwrap.dedent(one) for one in found]


class Shell:
    """A directory that has what a checkout has, and a cluster.

    Args:
        directory: where commands run and leave files.
        kubeconfig: of the cluster.
    """

    def __init__(self, directory: Path, kubeconfig: Path) -> None:
        self.directory = directory
        directory.mkdir()
        for name in ("charts", "crds", "examples"):
            shutil.copytree(ROOT / name, directory / name)
        (directory / ".venv").symlink_to(sys.prefix)
        inherited = kubectl_environment(directory)
        programs = [sys.executable, str(helm_binary()), str(control_plane_binaries().kubectl)]
        path = ":".join([*(str(Path(one).parent) for one in programs), inherited["PATH"]])
        self._environment = {**inherited, "PATH": path, "KUBECONFIG": str(kubeconfig)}

    def start(self, command: str) -> subprocess.Popen[str]:
        """A command that goes on, without the `&` after it; its output is a pipe."""
        return subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.directory,
            env=self._environment,
        )

    def run(self, script: str, *, given: str = "") -> str:
        """Return what the commands printed.

        Raises:
            PastedCommandError: one of them failed.
        """
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            input=given,
            capture_output=True,
            text=True,
            cwd=self.directory,
            env=self._environment,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode:
            raise PastedCommandError(f"{script}\n{done.stderr}")
        return done.stdout
