"""The cloud on this machine: moto as a process, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

from tools.controlplane.errors import ProcessExitedError
from tools.local.installing import python_environment
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["Moto"]

_HERE = Path(__file__).parent
_LOCK = Path(__file__).parents[2] / "requirements" / "moto.txt"


class Moto:
    """The process; it ends when it is closed, or with the program that started it."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process = subprocess.Popen(
            [python_environment("moto", _LOCK), "-I", _HERE / "moto_program.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # it tells of each request, with its body
            text=True,
            env={"PATH": os.defpath},
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise ProcessExitedError("moto's process has no pipes")
        self._questions, self._answers = self._process.stdin, self._process.stdout
        self.url = f"http://127.0.0.1:{self._line()['port']}"

    def ask(self, question: str, **given: object) -> Any:  # noqa: ANN401 - its JSON
        """Return the answer to a question of `moto_program`."""
        with self._turn:
            self._questions.write(json.dumps({question: given}) + "\n")
            self._questions.flush()
            return self._line()

    def close(self) -> None:
        """The process has ended."""
        self._process.communicate(timeout=PATIENCE_SECONDS)

    def _line(self) -> Any:  # noqa: ANN401 - its JSON
        line = self._answers.readline()
        if not line:
            raise ProcessExitedError("moto's process ended")
        return json.loads(line)
