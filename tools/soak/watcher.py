"""Follows all Secrets, through restarts of the API server: lists them, watches, and lists again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import NotRequired, TypedDict

import aiohttp
import orjson

from tools.bench.errors import BenchError
from tools.bench.kube import KubeApi, ObjectMeta
from tools.bench.watching import WatchEvent, read_event
from tools.bench.workload import Key

__all__ = ["Follower", "Listed", "SecretBody", "list_all"]

_AGAIN_SECONDS = 0.3
_PAGE = "500"
_WATCH_SECONDS = "600"


class SecretBody(TypedDict):
    """What is read of a Secret."""

    metadata: ObjectMeta
    data: NotRequired[dict[str, str]]


class Listed(TypedDict):
    """A page of a list."""

    metadata: dict[str, str]
    items: list[SecretBody]


class Follower:
    """Shows each Secret as it changes.

    Args:
        api: as administrator.
        path: of the collection.
        changed: gets namespace and name, `data` (None when it is gone) and the `time.monotonic` of its arrival.

    Attributes:
        gaps: how often the stream broke; what happened meanwhile is seen late, by a list.
    """

    def __init__(
        self, api: KubeApi, path: str, changed: Callable[[Key, dict[str, str] | None, float], None]
    ) -> None:
        self._api = api
        self._path = path
        self._changed = changed
        self._versions: dict[Key, str] = {}
        self.gaps = 0

    async def run(self) -> None:
        """Follow until it is cancelled."""
        while True:
            try:
                version = await self._take_in_all()
                await self._watch(version)
            except (BenchError, aiohttp.ClientError, TimeoutError, OSError):
                self.gaps += 1
                await asyncio.sleep(_AGAIN_SECONDS)  # as a client does whose server is away

    async def _take_in_all(self) -> str:
        items, version = await list_all(self._api, self._path)
        at = time.monotonic()
        seen = {_key(item["metadata"]): item for item in items}
        for key, item in seen.items():
            if self._versions.get(key) != item["metadata"]["resourceVersion"]:
                self._show(key, item["metadata"]["resourceVersion"], item.get("data") or {}, at)
        for key in self._versions.keys() - seen.keys():
            self._show_end(key, at)
        return version

    async def _watch(self, version: str) -> None:
        query = {"watch": "true", "timeoutSeconds": _WATCH_SECONDS, "resourceVersion": version}
        async for at, line in self._api.lines(self._path, query):
            if line:
                self._take_in(read_event(line), at)

    def _take_in(self, event: WatchEvent, at: float) -> None:
        metadata = event["object"]["metadata"]
        if event["type"] == "DELETED":
            self._show_end(_key(metadata), at)
        else:
            self._show(_key(metadata), metadata["resourceVersion"], event["object"].get("data") or {}, at)

    def _show(self, key: Key, version: str, data: dict[str, str], at: float) -> None:
        self._versions[key] = version
        self._changed(key, data, at)

    def _show_end(self, key: Key, at: float) -> None:
        self._versions.pop(key, None)
        self._changed(key, None, at)


async def list_all(api: KubeApi, path: str) -> tuple[list[SecretBody], str]:
    """Return all objects, and the version from which on a watch shows what comes next."""
    items: list[SecretBody] = []
    query = {"limit": _PAGE}
    while True:
        page: Listed = orjson.loads(await api.send("GET", path, query=query))
        items += page["items"]
        following = page["metadata"].get("continue")
        if not following:
            return items, page["metadata"]["resourceVersion"]
        query = {"limit": _PAGE, "continue": following}


def _key(metadata: ObjectMeta) -> Key:
    return metadata.get("namespace", ""), metadata["name"]
