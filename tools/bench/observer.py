"""Sees objects change by watching them, and notes when: the only source of time stamps of the benchmarks.

Two watch streams: Secrets that the operator manages (by its label) and SecretSyncs. Nothing is polled.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from tools.bench.errors import NotInTimeError
from tools.bench.kube import SECRETSYNCS, KubeApi
from tools.bench.watching import MANAGED_SECRETS, SECRETS, Watched, WatchEvent, watching
from tools.bench.workload import Key, Workload, encoded

__all__ = ["Observer", "Sighting", "observing"]


@dataclass(frozen=True, slots=True)
class Sighting:
    """One event of a Secret: when it was read from the stream (`time.monotonic`), and what it showed."""

    at: float
    kind: str
    resource_version: int
    uid: str
    right: bool


@dataclass(slots=True)
class _Waiter:
    awaited: Callable[[], bool]
    met: asyncio.Event = field(default_factory=asyncio.Event)


class Observer:
    """What was seen of one workload.

    Attributes:
        secret_at: when each Secret was first seen with the right bytes, after the last `expect`.
        ready_at: when each SecretSync was first seen Ready in its current generation.
    """

    def __init__(self, workload: Workload) -> None:
        self._sources = {sync.key: sync.source for sync in workload.syncs()}
        self._right = [encoded(source.values) for source in workload.sources]
        self._reasons: dict[Key, str] = {}
        self._trails: dict[Key, list[Sighting]] = {}
        self._waiters: list[_Waiter] = []
        self.secret_at: dict[Key, float] = {}
        self.ready_at: dict[Key, float] = {}

    def expect(self, source: int, values: Mapping[str, str]) -> list[Key]:
        """From now on only these values are right for that source; return the Secrets that depend on it."""
        self._right[source] = encoded(values)
        dependents = [key for key, wanted in self._sources.items() if wanted == source]
        for key in dependents:
            self.secret_at.pop(key, None)
        return dependents

    def follow(self, key: Key) -> list[Sighting]:
        """Return a list that every later sighting of that Secret is added to, until `unfollow`."""
        return self._trails.setdefault(key, [])

    def unfollow(self, key: Key) -> None:
        """The list grows no more."""
        self._trails.pop(key, None)

    def missing(self) -> list[str]:
        """Return one line for each object that is not right, or not Ready, with the reason it gives."""
        lines = []
        for key in self._sources:
            lacks = [
                word
                for word, seen in (("Secret", self.secret_at), ("Ready", self.ready_at))
                if key not in seen
            ]
            if lacks:
                reason = self._reasons.get(key, "no condition yet")
                lines.append(f"{key[0]}/{key[1]} lacks {' and '.join(lacks)} ({reason})")
        return lines

    @property
    def complete(self) -> bool:
        """Whether all Secrets are right and all SecretSyncs Ready."""
        return len(self.secret_at) == len(self.ready_at) == len(self._sources)

    async def until_complete(self, within_seconds: float) -> float:
        """Return when the last awaited event was read (`time.monotonic`).

        Raises:
            NotInTimeError: naming what misses and why.
        """
        await self.until(lambda: self.complete, "all Secrets and conditions", within_seconds, self.missing)
        return max(*self.secret_at.values(), *self.ready_at.values())

    async def until(
        self,
        awaited: Callable[[], bool],
        description: str,
        within_seconds: float,
        missing: Callable[[], list[str]],
    ) -> None:
        """The condition became true; it is asked again after each event.

        Raises:
            NotInTimeError: it did not in time.
        """
        if awaited():
            return
        waiter = _Waiter(awaited)
        self._waiters.append(waiter)
        try:
            async with asyncio.timeout(within_seconds):
                await waiter.met.wait()
        except TimeoutError as error:
            raise NotInTimeError(description, within_seconds, missing()) from error
        finally:
            self._waiters.remove(waiter)

    def see_secret(self, event: WatchEvent, at: float) -> None:
        """Note one watch event of a Secret."""
        metadata = event["object"]["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        source = self._sources.get(key)
        if source is None:
            return
        gone = event["type"] == "DELETED"
        right = not gone and event["object"].get("data") == self._right[source]
        trail = self._trails.get(key)
        if trail is not None:
            version = int(metadata["resourceVersion"])
            trail.append(Sighting(at, event["type"], version, metadata["uid"], right))
        if right:
            self.secret_at.setdefault(key, at)
        self._look()

    def see_secretsync(self, event: WatchEvent, at: float) -> None:
        """Note one watch event of a SecretSync."""
        metadata, status = event["object"]["metadata"], event["object"].get("status", {})
        key = (metadata.get("namespace", ""), metadata["name"])
        if key not in self._sources or key in self.ready_at or event["type"] == "DELETED":
            return
        for condition in status.get("conditions", ()):
            if condition["type"] != "Ready":
                continue
            self._reasons[key] = f"{condition.get('reason')}: {condition.get('message')}"
            if condition["status"] == "True" and status.get("observedGeneration") == metadata.get(
                "generation"
            ):
                self.ready_at[key] = at
        self._look()

    def _look(self) -> None:
        for waiter in self._waiters:
            if waiter.awaited():
                waiter.met.set()


@contextlib.asynccontextmanager
async def observing(api: KubeApi, workload: Workload) -> AsyncIterator[Observer]:
    """While the block runs, all changes after its start are seen; an error in a stream ends it."""
    observer = Observer(workload)
    secrets = Watched(SECRETS, observer.see_secret, MANAGED_SECRETS)
    async with watching(api, secrets, Watched(SECRETSYNCS, observer.see_secretsync)):
        yield observer
