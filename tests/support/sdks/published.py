"""A published client in a process of its own, asked by lines of JSON; credentials travel there only."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.sdks.installing import node_client, python_client
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["PublishedClient", "PublishedError", "node_process", "python_process"]

_HERE = Path(__file__).parent


class PublishedError(Exception):
    """What the client raised.

    Attributes:
        status: the HTTP status that it tells of, if any.
    """

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


class PublishedClient:
    """The process; `connect` gives it a fresh client, and calling it calls that."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.defpath},  # no proxy, no credentials of whoever runs the tests
        )

    def connect(self, url: str) -> None:
        """Begin anew with a client that is not logged in."""
        self._ask({"connect": url})

    def __call__(self, operation: str, *arguments: object, **options: object) -> Any:  # noqa: ANN401 - its JSON
        """Return what the operation gives, as JSON.

        Raises:
            PublishedError: it raised something.
        """
        return self._ask({"call": operation, "arguments": arguments, "options": options})

    def environment(self, name: str) -> str | None:
        """Return a variable of the process's environment."""
        value: str | None = self._ask({"environment": name})
        return value

    def close(self) -> None:
        """The process has ended by itself."""
        self._process.communicate(timeout=PATIENCE_SECONDS)

    def _ask(self, question: dict[str, object]) -> Any:  # noqa: ANN401 - its JSON
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the client's process ended; its own words are on stderr"
        answer = json.loads(line)
        if "error" in answer:
            raise PublishedError(answer["error"], answer.get("status"))
        return answer["result"]


@pytest.fixture(scope="session")
def python_process() -> Iterator[PublishedClient]:
    """Yield PyPI's `infisicalsdk`."""
    running = PublishedClient([python_client(), "-I", _HERE / "driver.py"])
    yield running
    running.close()


@pytest.fixture(scope="session")
def node_process() -> Iterator[PublishedClient]:
    """Yield npm's `@infisical/sdk`."""
    installed = node_client()
    running = PublishedClient([installed.node, _HERE / "driver.mjs", installed.folder])
    yield running
    running.close()
