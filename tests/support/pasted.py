"""Commands of pages, run as by somebody who pastes them into a shell in a checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

from tools.chart.helm import helm_binary
from tools.chart.rendering import ROOT
from tools.controlplane.binaries import control_plane_binaries
from tools.controlplane.environment import kubectl_environment
from tools.controlplane.process import tether
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["PastedCommandError", "Shell", "block_with", "blocks", "chapter", "yaml_with"]

_BASH = shutil.which("bash") or "/bin/bash"
_SECONDS = 2.4 * PATIENCE_SECONDS
_INDENTED = re.compile(r"(?:^ {4,}\S.*\n(?:\n(?= {4}))?)+", re.MULTILINE)


class PastedCommandError(Exception):
    """A command failed; the text is what it wrote to standard error."""


def blocks(text: str) -> list[str]:
    """Return the indented blocks of a text, each without its indentation."""
    found = _INDENTED.findall(f"{text}\n")
    return [textwrap.dedent(one) for one in found]


def chapter(page: Path, heading: str) -> str:
    """Return what stands under a heading, up to the next one."""
    _, found, after = page.read_text().partition(f"\n{heading}\n")
    assert found, f"{page} has no heading {heading}"
    return re.split(r"^##", after, maxsplit=1, flags=re.MULTILINE)[0]


def block_with(page: Path, text: str) -> str:
    """Return the one indented block of a page that has this text."""
    return _only([one for one in blocks(page.read_text()) if text in one], page, text)


def yaml_with(page: Path, text: str) -> str:
    """Return the one YAML of a page that has this text."""
    shown = re.findall(r"^```yaml\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return _only([one for one in shown if text in one], page, text)


def _only(found: list[str], page: Path, text: str) -> str:
    assert len(found) == 1, f"{page} has {len(found)} blocks with {text!r} in place of one"
    return found[0]


class Shell:
    """A directory that has what a checkout has, and a cluster.

    Args:
        directory: where commands run and leave files.
        kubeconfig: of the cluster.
        dist: a release, for a cluster of nodes: the chart is then that of its package, and `dist` leads there. All
            that commands start ends when this process is killed.
    """

    def __init__(self, directory: Path, kubeconfig: Path, dist: Path | None = None) -> None:
        self.directory = directory
        directory.mkdir()
        for name in ("crds", "examples"):
            shutil.copytree(ROOT / name, directory / name)
        self._before = [] if dist is None else _ending_with_us()
        if dist is None:
            shutil.copytree(ROOT / "charts", directory / "charts")
        else:
            (directory / "dist").symlink_to(dist)
            (package,) = dist.glob("*.tgz")
            with tarfile.open(package) as packed:
                packed.extractall(directory / "charts", filter="data")
        (directory / ".venv").symlink_to(sys.prefix)
        inherited = kubectl_environment(directory)
        programs = [sys.executable, str(helm_binary()), str(control_plane_binaries().kubectl)]
        path = ":".join([*(str(Path(one).parent) for one in programs), inherited["PATH"]])
        self._environment = {**inherited, "PATH": path, "KUBECONFIG": str(kubeconfig)}

    def start(self, command: str) -> subprocess.Popen[str]:
        """A command that goes on until it is killed, without the `&` after it; its output is a pipe."""
        return subprocess.Popen(
            [*self._before, _BASH, "-c", f"exec {command}"],
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
            [*self._before, _BASH, "-euo", "pipefail", "-c", script],
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


def _ending_with_us() -> list[str]:
    """What comes before a command, so that the kernel ends it and all that it starts when this process is killed.

    Helm would go on asking a cluster that has gone with us.
    """
    unshare = shutil.which("unshare")
    assert unshare is not None, "where nodes run, there is unshare"
    return [*tether(), unshare, "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"]
