"""Watch streams of the API server, which nothing that happens after their begin escapes. Nothing is polled."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import orjson

from tools.bench.errors import BenchError
from tools.bench.kube import KubeApi, ObjectMeta

__all__ = ["MANAGED_SECRETS", "SECRETS", "WatchEvent", "Watched", "read_event", "watching"]

SECRETS = "/api/v1/secrets"
MANAGED_SECRETS = "keybearer.dev/managed=true"
"""The label by which the operator marks what it writes."""
_WATCH_SECONDS = "7200"
_WATCHES_IN_VAIN_MAX = 5
_SHORTEST_WATCH_SECONDS = 1.0


class _Condition(TypedDict):
    type: str
    status: str
    reason: NotRequired[str]
    message: NotRequired[str]


class _SyncStatus(TypedDict, total=False):
    observedGeneration: int
    conditions: list[_Condition]


class _Object(TypedDict):
    metadata: ObjectMeta
    data: NotRequired[dict[str, str]]
    status: NotRequired[_SyncStatus]
    message: NotRequired[str]


class WatchEvent(TypedDict):
    """One line of a watch stream."""

    type: str
    object: _Object


@dataclass(frozen=True, slots=True)
class Watched:
    """What is watched, and who is shown it.

    Attributes:
        path: of the collection.
        see: takes each event, and when it was read (`time.monotonic`).
        selector: of labels; all objects when it is empty.
    """

    path: str
    see: Callable[[WatchEvent, float], None]
    selector: str = ""


def read_event(line: bytes) -> WatchEvent:
    """Return what the line says.

    Raises:
        BenchError: it says that the stream ended with an error.
    """
    event: WatchEvent = orjson.loads(line)
    if event["type"] == "ERROR":
        msg = f"a watch ended with an error: {event['object'].get('message')}"
        raise BenchError(msg)
    return event


@contextlib.asynccontextmanager
async def watching(api: KubeApi, *all_watched: Watched) -> AsyncIterator[None]:
    """While the block runs, all changes after its start are seen; an error in a stream ends it."""
    starts = [await _position_of(api, watched.path) for watched in all_watched]
    async with asyncio.TaskGroup() as group:
        streams = [
            group.create_task(_watch(api, watched, start), name=f"watch of {watched.path}")
            for watched, start in zip(all_watched, starts, strict=True)
        ]
        yield
        for stream in streams:
            stream.cancel()


async def _position_of(api: KubeApi, path: str) -> str:
    """Return from where on a watch of the path shows all that happens after this call."""
    listed = orjson.loads(await api.send("GET", path, query={"limit": "1"}))
    return str(listed["metadata"]["resourceVersion"])


async def _watch(api: KubeApi, watched: Watched, start: str) -> None:
    """Show every event; where the API server closes a stream that it had to wait for, go on where it ended.

    Raises:
        BenchError: several streams in a row ended at once and had brought nothing.
    """
    query = {"watch": "true", "timeoutSeconds": _WATCH_SECONDS, "allowWatchBookmarks": "true"}
    if watched.selector:
        query["labelSelector"] = watched.selector
    version, in_vain = start, 0
    while True:
        begun_at, opened_at = version, time.monotonic()
        async for at, line in api.lines(watched.path, {**query, "resourceVersion": version}):
            if not line:
                continue
            event = read_event(line)
            version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                watched.see(event, at)
        is_in_vain = version == begun_at and time.monotonic() - opened_at < _SHORTEST_WATCH_SECONDS
        in_vain = in_vain + 1 if is_in_vain else 0
        # One alone is what an API server does whose cache was just filled anew.
        if in_vain >= _WATCHES_IN_VAIN_MAX:
            msg = f"the API server ends the watch of {watched.path} at once"
            raise BenchError(msg)
