"""Much of everything in a real service: what it costs to write, list, refer to, import and rename.

Times are of requests from a client beside it, one after the other; memory is the service's own at its peak
meanwhile. While a large list is answered, another client asks for the status of the service all the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import aiohttp
import orjson

from tools.bench.databases import NAMES, DatabaseKind, service_on
from tools.bench.errors import BenchError
from tools.bench.figures import Figure, RowResult
from tools.bench.options import ScaleSize, ServiceOptions
from tools.bench.process_meter import ProcessMeter
from tools.bench.service import Service
from tools.bench.workload import Dimensions

__all__ = ["run"]

_BATCH = 1000
_LARGE_BATCH = 100
_IN_A_FOLDER = 10
_REFERRERS = 500
_TIMEOUT = aiohttp.ClientTimeout(total=120)
_SECRETS = "/api/v4/secrets"
_FOLDERS = "/api/v2/folders"
_IMPORTS = "/api/v2/secret-imports"
_STATUS = "/api/status"

_Step = Callable[[], Awaitable[int]]
"""Asks something of the service and returns how many bytes it answered."""


async def run(kind: DatabaseKind, options: ServiceOptions) -> RowResult:
    """Measure each step on what those before it left."""
    size = options.scale
    async with (
        service_on(kind, options.directory / f"scale-{kind}", Dimensions(sources=1, keys=1)) as service,
        aiohttp.ClientSession(service.url, headers=service.admin.headers, timeout=_TIMEOUT) as session,
        aiohttp.ClientSession(service.url, timeout=_TIMEOUT) as beside,
    ):
        steps = _Steps(service, session, beside)
        await _many_secrets(steps, size)
        await _many_references(steps, size)
        await _many_folders(steps, size)
        await _many_imports(steps, size)
        await _many_levels(steps, size)
        await _large_values(steps, size)
        memory = ProcessMeter(service.pid).memory()
    notes = (f"the service's memory at the end: {memory.resident:.0f} MiB",)
    return RowResult(f"scale-{kind}", f"Much of everything on {NAMES[kind]}", tuple(steps.figures), notes)


class _Steps:
    """The API as these steps use it, and what was measured."""

    def __init__(
        self, service: Service, session: aiohttp.ClientSession, beside: aiohttp.ClientSession
    ) -> None:
        self._session = session
        self._beside = beside
        self._meter = ProcessMeter(service.pid)
        self._project_id = service.sources[0].project_id
        self._environment = service.sources[0].environment
        self.figures: list[Figure] = []

    async def measured(self, what: str, step: _Step) -> None:
        """The step was taken, and its time and memory stand among the figures."""
        self._meter.forget_peak()
        started = time.perf_counter()
        length = await step()
        seconds = time.perf_counter() - started
        told = f" ({length / 2**20:.1f} MiB)" if length >= 2**20 else ""
        peak = self._meter.memory().peak
        self.figures.append(
            Figure(what + told, "s", seconds, peak_mib=peak)
            if seconds >= 1
            else Figure(what + told, "ms", seconds * 1000, peak_mib=peak)
        )

    async def listed(self, what: str, path: str, **query: str) -> None:
        """The list was asked for, with another request all the time beside it, and once more unchanged."""
        parameters = self.at(path) | query
        tag = ""

        async def ask() -> int:
            nonlocal tag
            async with self._session.get(_SECRETS, params=parameters) as answer:
                tag = answer.headers.get("etag", "")
                return len(await _content(answer))

        async def ask_again() -> int:
            async with self._session.get(
                _SECRETS, params=parameters, headers={"If-None-Match": tag}
            ) as answer:
                if answer.status != 304:
                    msg = f"{what}: the service answered {answer.status}, though nothing changed"
                    raise BenchError(msg)
                return 0

        waits: list[float] = []
        async with self._asked_beside(waits):
            await self.measured(what, ask)
        self.figures.append(Figure(f"{what}: longest wait of another request", "ms", max(waits) * 1000))
        await self.measured(f"{what}: unchanged (304)", ask_again)

    async def send(self, method: str, path: str, body: Mapping[str, object]) -> int:
        """The request was answered with success; return the answer's length."""
        async with self._session.request(method, path, json=body) as answer:
            return len(await _content(answer))

    async def get(self, path: str, parameters: Mapping[str, str]) -> bytes:
        """Return what the service answers."""
        async with self._session.get(path, params=parameters) as answer:
            return await _content(answer)

    async def batch(self, method: str, path: str, items: Sequence[Mapping[str, str]], size: int) -> int:
        """The secrets were written, so many with each request."""
        for start in range(0, len(items), size):
            body = {**self.at(path), "secrets": items[start : start + size]}
            await self.send(method, f"{_SECRETS}/batch", body)
        return 0

    async def folder(self, path: str) -> None:
        """The folder exists."""
        above, _, name = path.rpartition("/")
        await self.send("POST", _FOLDERS, self.place(above or "/") | {"name": name})

    def at(self, path: str) -> dict[str, str]:
        """Return a folder as requests about secrets name it."""
        return {"projectId": self._project_id, "environment": self._environment, "secretPath": path}

    def place(self, path: str) -> dict[str, str]:
        """Return a folder as other requests name it."""
        return {"projectId": self._project_id, "environment": self._environment, "path": path}

    def reference(self, folder: str, key: str) -> str:
        """Return a reference to a secret."""
        return f"${{{self._environment}.{folder}.{key}}}"

    def source(self, path: str) -> dict[str, object]:
        """Return a folder as imports name it."""
        return {"import": {"environment": self._environment, "path": path}}

    @contextlib.asynccontextmanager
    async def _asked_beside(self, waits: list[float]) -> AsyncIterator[None]:
        """Ask for the status over and over while the block runs; `waits` gets the seconds of each answer."""

        async def ask() -> None:
            started = time.perf_counter()
            async with self._beside.get(_STATUS) as answer:
                await _content(answer)
            waits.append(time.perf_counter() - started)

        async def keep_asking() -> None:
            while not ended:
                await ask()

        ended = False
        await ask()  # the connection is open
        waits.clear()
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_asking(), name="requests beside")
            yield
            ended = True


async def _many_secrets(steps: _Steps, size: ScaleSize) -> None:
    count = size.secrets
    await steps.folder("/many")
    items = [{"secretKey": f"K{number:05}", "secretValue": f"v{number}"} for number in range(count)]
    await steps.measured(
        f"create {count:,} secrets in one folder", lambda: steps.batch("POST", "/many", items, _BATCH)
    )
    await steps.listed(f"list {count:,} secrets", "/many")
    await steps.measured(
        "get one of them", _length(lambda: steps.get(f"{_SECRETS}/K00007", steps.at("/many")))
    )
    changed = [{**item, "secretValue": "w"} for item in items[:_BATCH]]
    await steps.measured(
        f"update {len(changed):,} of them", lambda: steps.batch("PATCH", "/many", changed, _BATCH)
    )


async def _many_references(steps: _Steps, size: ScaleSize) -> None:
    count = size.secrets
    await steps.folder("/refer")
    items = [
        {"secretKey": f"R{number:05}", "secretValue": f"<{steps.reference('many', f'K{number:05}')}>"}
        for number in range(count)
    ]
    await steps.measured(
        f"create {count:,} references to them", lambda: steps.batch("POST", "/refer", items, _BATCH)
    )
    await steps.listed(f"list {count:,} references", "/refer")
    await steps.folder("/one")
    same = steps.reference("many", "K00007")
    referrers = [{"secretKey": f"ALL{number}", "secretValue": same} for number in range(_REFERRERS)]
    await steps.batch("POST", "/one", referrers, _BATCH)
    renamed = {**steps.at("/many"), "newSecretName": "RENAMED"}
    await steps.measured(
        f"rename a secret that {_REFERRERS + 1} others name",
        lambda: steps.send("PATCH", f"{_SECRETS}/K00007", renamed),
    )
    folders = orjson.loads(await steps.get(_FOLDERS, steps.place("/")))["folders"]
    [many] = [folder["id"] for folder in folders if folder["name"] == "many"]
    await steps.measured(
        "rename the folder that all of these name",
        lambda: steps.send("PATCH", f"{_FOLDERS}/{many}", steps.place("/") | {"name": "renamed"}),
    )


async def _many_folders(steps: _Steps, size: ScaleSize) -> None:
    await steps.folder("/f")

    async def fill() -> int:
        for number in range(size.folders):
            path = _numbered(number)
            await steps.folder(path)
            keys = [{"secretKey": f"S{number:04}_{key}", "secretValue": "v"} for key in range(_IN_A_FOLDER)]
            await steps.batch("POST", path, keys, _BATCH)
        return 0

    await steps.measured(f"create {size.folders:,} folders of {_IN_A_FOLDER} secrets", fill)
    await steps.listed("list them recursively", "/f", recursive="true")
    await steps.measured("list the folders", _length(lambda: steps.get(_FOLDERS, steps.place("/f"))))


async def _many_imports(steps: _Steps, size: ScaleSize) -> None:
    await steps.folder("/importing")

    async def fill() -> int:
        for number in range(size.folders):
            await steps.send("POST", _IMPORTS, steps.place("/importing") | steps.source(_numbered(number)))
        return 0

    await steps.measured(f"import {size.folders:,} folders into one", fill)
    await steps.listed("list what it imports", "/importing")
    await steps.measured(
        "get one of those", _length(lambda: steps.get(f"{_SECRETS}/S0007_3", steps.at("/importing")))
    )


async def _many_levels(steps: _Steps, size: ScaleSize) -> None:
    path = "".join(f"/l{level}" for level in range(size.levels))
    await steps.folder(path)
    await steps.batch("POST", path, [{"secretKey": "DEEP", "secretValue": "v"}], _BATCH)
    await steps.listed(f"list through {size.levels} levels", "/l0", recursive="true")


async def _large_values(steps: _Steps, size: ScaleSize) -> None:
    await steps.folder("/large")
    value = "x" * size.large_bytes
    items = [{"secretKey": f"L{number:04}", "secretValue": value} for number in range(size.large)]
    what = f"{size.large} values of {size.large_bytes >> 10} KiB"
    await steps.measured(f"create {what}", lambda: steps.batch("POST", "/large", items, _LARGE_BATCH))
    await steps.listed(f"list {what}", "/large")
    await steps.folder("/shows-large")
    await steps.send("POST", _IMPORTS, steps.place("/shows-large") | steps.source("/large"))
    await steps.listed(f"list {what} through an import", "/shows-large")


def _numbered(number: int) -> str:
    return f"/f/n{number:04}"


def _length(ask: Callable[[], Awaitable[bytes]]) -> _Step:
    async def asked() -> int:
        return len(await ask())

    return asked


async def _content(answer: aiohttp.ClientResponse) -> bytes:
    content: Any = await answer.read()
    if answer.status != 200:
        msg = f"the service answered {answer.url.path} with {answer.status}: {content[:400]!r}"
        raise BenchError(msg)
    return bytes(content)
