"""A parameter store in memory, for many syncs: quick, and it counts. It checks nothing; moto does that."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["ParameterStoreServer"]

_KEY_ID = re.compile(r"Credential=([^/]+)/")
_WRITES = ("PutParameter", "DeleteParameters")
_IDENTITY = (
    "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/x</Arn>"
    "<UserId>x</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>"
)


@dataclass
class ParameterStoreServer:
    """Serves while the block runs, in a thread with an event loop of its own.

    Attributes:
        latency_seconds: of each call.
        parameters: values by path, which ends with a slash, and name; no path without any.
        calls: how many there were, by operation.
        most_at_once: of the calls of one access key.
        overlaps: paths that two calls changed at the same time.
    """

    latency_seconds: float = 0.0
    url: str = ""
    parameters: dict[str, dict[str, str]] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    most_at_once: Counter[str] = field(default_factory=Counter)
    overlaps: list[str] = field(default_factory=list)
    _tags: dict[str, dict[str, str]] = field(default_factory=dict)
    _versions: Counter[str] = field(default_factory=Counter)
    _by_key: Counter[str] = field(default_factory=Counter)
    _by_path: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="parameter store", daemon=True)
        self._runner: web.ServerRunner | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._open)
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def writes(self) -> int:
        """How many calls changed something."""
        return sum(self.calls[operation] for operation in _WRITES)

    def below(self, path: str) -> dict[str, str]:
        """Return what a path holds, by names without it."""
        return dict(self.parameters.get(path, {}))

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        async def done() -> None:
            await work()

        asyncio.run_coroutine_threadsafe(done(), self._loop).result(PATIENCE_SECONDS)

    async def _open(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        content = await request.read()
        target = request.headers.get("X-Amz-Target", "")
        if not target:
            return web.Response(text=_IDENTITY, content_type="text/xml")
        operation, body = target.partition(".")[2], json.loads(content)
        found = _KEY_ID.search(request.headers.get("Authorization", ""))
        key, path = found[1] if found else "", _path_of(operation, body)
        self.calls[operation] += 1
        self._by_key[key] += 1
        self._by_path[path] += 1
        self.most_at_once[key] = max(self.most_at_once[key], self._by_key[key])
        if self._by_path[path] > 1:
            self.overlaps.append(path)
        try:
            await asyncio.sleep(self.latency_seconds)
            answer = self._answer(operation, body)
        finally:
            self._by_key[key] -= 1
            self._by_path[path] -= 1
        return web.json_response(answer, content_type="application/x-amz-json-1.1")

    def _answer(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        match operation:
            case "PutParameter":
                path, name = _parted(body["Name"])
                self.parameters.setdefault(path, {})[name] = body["Value"]
                self._versions[path + name] += 1
                return {"Version": self._versions[path + name], "Tier": "Standard"}
            case "DeleteParameters":
                for path, name in map(_parted, body["Names"]):
                    there = self.parameters.get(path, {})
                    there.pop(name, None)
                    self._tags.pop(path + name, None)
                    if not there:
                        self.parameters.pop(path, None)
                return {"DeletedParameters": body["Names"], "InvalidParameters": []}
            case "GetParametersByPath":
                path = body["Path"]
                shown = [
                    {"Name": path + name, "Value": value, "Version": self._versions[path + name]}
                    for name, value in self.parameters.get(path, {}).items()
                ]
                return {"Parameters": shown}
            case "DescribeParameters":
                path = _path_of(operation, body)
                return {"Parameters": [{"Name": path + name} for name in self.parameters.get(path, {})]}
            case "AddTagsToResource" | "RemoveTagsFromResource" | "ListTagsForResource":
                tags = self._tags.setdefault(body["ResourceId"], {})
                tags.update({tag["Key"]: tag["Value"] for tag in body.get("Tags", ())})
                for name in body.get("TagKeys", ()):
                    tags.pop(name, None)
                return {"TagList": [{"Key": name, "Value": value} for name, value in tags.items()]}
            case _:
                raise web.HTTPBadRequest(text=operation)


def _path_of(operation: str, body: Mapping[str, Any]) -> str:
    match operation:
        case "GetParametersByPath":
            return str(body["Path"])
        case "DescribeParameters":
            return str(body["ParameterFilters"][0]["Values"][0]).rstrip("/") + "/"
        case "DeleteParameters":
            return _parted(body["Names"][0])[0]
        case "AddTagsToResource" | "RemoveTagsFromResource" | "ListTagsForResource":
            return _parted(body["ResourceId"])[0]
        case _:
            return _parted(body["Name"])[0]


def _parted(name: str) -> tuple[str, str]:
    end = name.rfind("/") + 1
    return name[:end], name[end:]
