"""The programs that the demo starts: the service and the operator, as a user would start them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tools.controlplane.process import spawn
from tools.demo.console import DemoError

__all__ = ["Program", "keybearer"]

_STOP_SECONDS = 40


def keybearer() -> str:
    """Return the path of the `keybearer` command that belongs to this interpreter."""
    return str(Path(sys.executable).with_name("keybearer"))


class Program:
    """A child process with a log file, ended by SIGTERM."""

    def __init__(
        self, name: str, command: list[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.log = log
        self._file: IO[bytes] = log.open("wb")
        self._process = spawn(
            command,
            output=subprocess.PIPE,
            errors=self._file,
            environment={**os.environ, **(environment or {})},  # noqa: TID251 - the demo is no part of the package
        )

    def ready_line(self) -> dict[str, str]:
        """Return the one JSON line that the program prints when it is ready.

        Raises:
            DemoError: it ended before.
        """
        if self._process.stdout is None:
            raise DemoError(f"{self.name} has no output")
        line = self._process.stdout.readline()
        if not line:
            raise DemoError(f"{self.name} ended with status {self._process.wait()}; its log is {self.log}")
        ready: dict[str, str] = json.loads(line)
        return ready

    def check(self) -> None:
        """Return while the program runs.

        Raises:
            DemoError: it has ended.
        """
        status = self._process.poll()
        if status is not None:
            raise DemoError(f"{self.name} ended with status {status}; its log is {self.log}")

    def stop(self) -> None:
        """End it in good order, or by force when it doesn't."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._file.close()
