"""The demo's hands on the cluster: kubectl, as a user has it."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Callable

from tools.controlplane.binaries import control_plane_binaries
from tools.controlplane.controlplane import ControlPlane
from tools.demo.console import DemoError

__all__ = ["Cluster"]

_POLL_SECONDS = 0.1


class Cluster:
    """A cluster and a kubectl for it."""

    def __init__(self, kubeconfig: str, control_plane: ControlPlane | None = None) -> None:
        self.kubeconfig = kubeconfig
        self._control_plane = control_plane
        found = shutil.which("kubectl")
        self._kubectl = (
            str(control_plane_binaries().kubectl) if control_plane is not None or not found else found
        )

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        """Return what kubectl prints.

        Raises:
            DemoError: it failed; the text is its own.
        """
        done = subprocess.run(
            [self._kubectl, "--kubeconfig", self.kubeconfig, *arguments],
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise DemoError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    @property
    def is_ours(self) -> bool:
        """Whether the cluster was started for the demo, and goes with it."""
        return self._control_plane is not None

    def secret(self, namespace: str, name: str) -> dict[str, str]:
        """Return the decoded data of a Secret; empty where there is none."""
        found = self.kubectl("-n", namespace, "get", "secret", name, "-o", "json", "--ignore-not-found")
        data = json.loads(found).get("data", {}) if found else {}
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def wait_until(self, what: str, holds: Callable[[], bool], *, seconds: float = 30) -> float:
        """Return how many seconds passed until it held.

        Raises:
            DemoError: it did not hold in time.
        """
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > seconds:
                raise DemoError(f"{what} was not observed within {seconds:.0f} s")
            time.sleep(_POLL_SECONDS)
        return time.monotonic() - began
