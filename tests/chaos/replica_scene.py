"""Two replicas of the service on one PostgreSQL, behind a balancer, and clients that write all the time."""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx

from support.preloaded import PRELOADED
from support.tcp_balancer import TcpBalancer
from tools.local.postgres import PostgresServer
from tools.local.secrets_service import RestartableService, ServiceAdmin, SourceProject
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["ReplicaScene", "Write", "Writers"]

_TIMEOUT_SECONDS = PATIENCE_SECONDS / 10
"""A client gives up, and tries another time."""
_PAUSE_SECONDS = 0.02
"""Between attempts that found nobody."""


class ReplicaScene:
    """All of it while the block runs.

    Args:
        directory: private to it.
        postgres: runs; the scene has a database of its own in it.
        flags: of `keybearer serve`.
    """

    def __init__(self, directory: Path, postgres: PostgresServer, flags: Sequence[str] = ()) -> None:
        self._directory = directory
        self._postgres = postgres
        self._flags = flags
        self._stack = ExitStack()
        self.database = ""
        self.one: RestartableService
        self.two: RestartableService
        self.balancer: TcpBalancer
        self.admin: ServiceAdmin

    def __enter__(self) -> Self:
        with self._stack as stack:
            self.database = self._postgres.create()
            stack.callback(self._postgres.drop, self.database)
            key = self._directory / "root.key"
            key.touch(mode=0o600)
            key.write_text(base64.b64encode(os.urandom(32)).decode())
            flags = [
                f"--database-url={self._postgres.url(self.database)}",
                f"--root-key-file={key}",
                *self._flags,
            ]
            self.one = stack.enter_context(
                RestartableService(self._directory, "one", flags, launch=PRELOADED)
            )
            self.two = stack.enter_context(
                RestartableService(self._directory, "two", flags, launch=PRELOADED)
            )
            self.balancer = stack.enter_context(TcpBalancer([self.one.url, self.two.url]))
            self.admin = stack.enter_context(self.new_admin())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def new_admin(self) -> ServiceAdmin:
        """The administrator by a connection of its own, through the balancer."""
        return ServiceAdmin(self.one, self.balancer.url)

    def count(self, statement: str) -> int:
        """The one number that a statement answers."""
        return int(self._postgres.execute(self.database, statement).strip())

    def logs(self) -> str:
        """What both have logged."""
        return self.one.log() + self.two.log()


@dataclass(frozen=True, slots=True)
class Write:
    """A secret that a client has asked to be made.

    Attributes:
        is_answered: with success. Otherwise the connection broke: it may have been made or not.
        ended_at: monotonic seconds.
    """

    key: str
    value: str = field(repr=False)
    is_answered: bool
    ended_at: float


class Writers:
    """Clients that make one secret after another while the block runs, each once, and note what became of it.

    Args:
        url: where they connect, each with connections of its own.
        token: of who may write.
        project: where to.
        number: of clients.
        folder: of the project.
    """

    def __init__(
        self, url: str, token: str, project: SourceProject, number: int = 4, *, folder: str = "/"
    ) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        self._place = {"projectId": project.id, "environment": "dev", "secretPath": folder}
        self._over = threading.Event()
        self._guard = threading.Lock()
        self._writes: list[list[Write]] = [[] for _ in range(number)]
        self._refusals: list[str] = []
        self._threads = [
            threading.Thread(target=self._write, args=(who,), name=f"writer {who}", daemon=True)
            for who in range(number)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    @property
    def refusals(self) -> list[str]:
        """Answers that were none of success."""
        with self._guard:
            return list(self._refusals)

    def writes(self) -> list[Write]:
        """All that were tried so far."""
        with self._guard:
            return [write for one in self._writes for write in one]

    def answered(self) -> list[Write]:
        """Those that were answered so far."""
        return [write for write in self.writes() if write.is_answered]

    def until_each_wrote(self, more: int) -> None:
        """Every client has had so many further answers."""
        with self._guard:
            before = [sum(write.is_answered for write in one) for one in self._writes]

        def done() -> bool:
            with self._guard:
                now = [sum(write.is_answered for write in one) for one in self._writes]
            return all(after - start >= more for start, after in zip(before, now, strict=True))

        eventually(done, awaited=f"{more} more answers to each client", told=lambda: str(self.refusals[-3:]))

    def longest_gap(self, around: float) -> float:
        """The longest time that any client was without an answer, across this instant: seconds."""
        gaps = []
        with self._guard:
            for one in self._writes:
                ends = [write.ended_at for write in one if write.is_answered]
                before, after = [at for at in ends if at <= around], [at for at in ends if at > around]
                gaps.append(min(after) - max(before))
        return max(gaps)

    def kept(self, url: str) -> dict[str, str]:
        """What is in the folder, as the replica at this address has it."""
        answer = httpx.get(
            f"{url}/api/v4/secrets", params=self._place, headers=self._headers, timeout=_TIMEOUT_SECONDS
        )
        answer.raise_for_status()
        return {one["secretKey"]: one["secretValue"] for one in answer.json()["secrets"]}

    def _write(self, who: int) -> None:
        number = 0
        with httpx.Client(base_url=self._url, headers=self._headers, timeout=_TIMEOUT_SECONDS) as client:
            while not self._over.is_set():
                number += 1
                key, value = f"W{who}_{number}", f"cnry-{who}-{number}"
                is_answered = False
                try:
                    answer = client.post(f"/api/v4/secrets/{key}", json={**self._place, "secretValue": value})
                    is_answered = answer.is_success
                    if not is_answered:
                        with self._guard:
                            self._refusals.append(f"{answer.status_code}: {answer.text}")
                except httpx.TransportError:
                    time.sleep(_PAUSE_SECONDS)
                with self._guard:
                    self._writes[who].append(Write(key, value, is_answered, time.monotonic()))
