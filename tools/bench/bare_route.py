"""The floor of the service: a bare FastAPI route that answers bytes made beforehand, served as the service is.

`python -m tools.bench.bare_route ANSWER TAG` answers `/list` with the bytes of the file ANSWER, and `/unchanged` with
304. It looks at nothing of a request: no service that reads who asks can do with less.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import uvicorn
import uvloop
from fastapi import FastAPI
from starlette.responses import Response

from keybearer.server.run import server_config
from tools.bench.service import announced
from tools.controlplane.process import Process

__all__ = ["BareRoute", "bare_app", "main", "running_bare_route"]

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class BareRoute:
    """A floor that runs."""

    url: str
    pid: int


def bare_app(body: bytes, tag: str) -> FastAPI:
    """Return the application, without what FastAPI adds by default and the service leaves out as well."""
    app = FastAPI(
        openapi_url=None,
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )

    @app.get("/list")
    async def listed() -> Response:
        return Response(body, 200, {"etag": tag}, media_type="application/json")

    @app.get("/unchanged")
    async def unchanged() -> Response:
        return Response(status_code=304, headers={"etag": tag})

    return app


@contextlib.asynccontextmanager
async def running_bare_route(directory: Path, body: bytes, tag: str) -> AsyncIterator[BareRoute]:
    """Run the floor in a process of its own while the block runs; its log is `directory/bare-route.log`."""
    answer = directory / "answer.json"
    answer.write_bytes(body)
    process = Process(
        "bare route",
        [sys.executable, "-m", "tools.bench.bare_route", answer, tag],
        directory / "bare-route.log",
        environment={"PATH": os.defpath, "PYTHONPATH": str(_ROOT)},
    )
    async with announced(process) as url:
        yield BareRoute(url, process.pid)


async def _serve(app: FastAPI) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        print(orjson.dumps({"url": f"http://127.0.0.1:{port}"}).decode(), flush=True)
        await uvicorn.Server(server_config(app)).serve(sockets=[listener])


def main() -> None:
    """Serve until told to stop."""
    answer, tag = sys.argv[1:]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(bare_app(Path(answer).read_bytes(), tag)))


if __name__ == "__main__":
    main()
