"""`keybearer operator` as a process of its own, with the rights of a kubeconfig and nothing of our environment."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx

from tools.controlplane.errors import ControlPlaneError
from tools.controlplane.ports import free_port
from tools.controlplane.process import Launch, Process
from tools.local.plain_http import TRUSTS_NOBODY
from tools.local.waiting import PATIENCE, PATIENCE_SECONDS, PROBE_SECONDS, eventually

__all__ = ["OperatorProcess", "keybearer_command"]


def keybearer_command() -> Path:
    """The `keybearer` command of this interpreter's environment."""
    return Path(sys.executable).with_name("keybearer")


class OperatorProcess:
    """An operator, started and stopped any number of times; its log grows in one file.

    Args:
        kubeconfig: its rights.
        directory: private to it.
        flags: of `keybearer operator`, besides log format and metrics address.
        name: how messages and files call it.
        program: what runs it; the `keybearer` command unless told otherwise.
        launch: what starts that; as people do unless told otherwise.
    """

    def __init__(
        self,
        kubeconfig: Path,
        directory: Path,
        flags: list[str],
        name: str = "operator",
        *,
        program: Sequence[str | Path] = (),
        launch: Launch | None = None,
    ) -> None:
        self.log_file = directory / f"{name}.log"
        self._port = free_port()
        self._process = Process(
            name,
            [
                *(program or (keybearer_command(),)),
                "operator",
                "--log-format=json",
                f"--metrics-listen=127.0.0.1:{self._port}",
                *flags,
            ],
            self.log_file,
            environment={"PATH": os.defpath, "HOME": str(directory), "KUBECONFIG": str(kubeconfig)},
            launch=launch,
        )

    def start(self, *, wait: bool = True) -> None:
        """It runs, and is ready where `wait`: as a leader its watches have begun, or it stands by."""
        self._process.start()
        if wait:
            self.wait_ready()

    def wait_ready(self) -> None:
        """It is ready: before that, it has nothing to end in good order."""
        self._process.wait_until(self._is_ready, awaited="become ready", within=PATIENCE)

    def terminate(self) -> None:
        """It has ended after SIGTERM, in good order; ControlPlaneError where it says nothing of that."""
        self._process.terminate(grace=PATIENCE)
        if '"operator_stopped"' not in self._process.log_since_start():
            raise ControlPlaneError(
                f"{self._process.name} did not end in good order: {self._process.log_tail()}"
            )

    def ask_to_stop(self) -> None:
        """SIGTERM was sent."""
        os.kill(self._process.pid, signal.SIGTERM)

    def freeze(self) -> None:
        """It stands still, as on a machine that was suspended."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        os.kill(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """It has ended at once, by SIGKILL."""
        self._process.kill()

    @property
    def pid(self) -> int:
        """Process id of the running program; ControlPlaneError when it doesn't run."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.running

    def check(self) -> None:
        """It runs; else ProcessExitedError with the end of its log."""
        self._process.check()

    def wait_ended(self) -> None:
        """It has ended by itself."""
        eventually(lambda: not self.running, awaited=f"an end of {self._process.name}")

    @property
    def leads(self) -> bool:
        """Whether it runs and says that it leads; one that is about to end says nothing any more."""
        try:
            return self.running and self.metric("keybearer_leader") == 1
        except (httpx.NetworkError, httpx.RemoteProtocolError):
            return False

    def log(self, start: int = 0) -> str:
        """Its log from an offset in bytes."""
        with self.log_file.open("rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    def log_size(self) -> int:
        """How many bytes it has logged."""
        return self.log_file.stat().st_size

    @property
    def metrics_url(self) -> str:
        """Where it answers probes and tells its metrics."""
        return f"http://127.0.0.1:{self._port}"

    def metrics(self) -> str:
        """What `/metrics` answers."""
        answer = httpx.get(f"{self.metrics_url}/metrics", timeout=PATIENCE_SECONDS, verify=TRUSTS_NOBODY)
        answer.raise_for_status()
        return answer.text

    def metric(self, line: str) -> float:
        """The value of one line of `/metrics`, named with its labels as it stands there; 0 where it is not."""
        for one in self.metrics().splitlines():
            name, _, value = one.rpartition(" ")
            if name == line:
                return float(value)
        return 0.0

    def unready(self) -> str | None:
        """What keeps it from being ready, or None."""
        try:
            answer = httpx.get(
                f"http://127.0.0.1:{self._port}/readyz", timeout=PROBE_SECONDS, verify=TRUSTS_NOBODY
            )
        except httpx.TransportError as error:
            return str(error) or "no answer"
        return None if answer.status_code == 200 else answer.text

    def _is_ready(self) -> bool:
        return self.unready() is None
