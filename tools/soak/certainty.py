"""Requests whose end must be known, whatever dies meanwhile: they are sent until somebody has answered."""

from __future__ import annotations

import asyncio
import time

import aiohttp
import httpx

from tools.bench.errors import BenchError, RefusedError
from tools.bench.kube import MERGE_PATCH, KubeApi, Manifest
from tools.local.secrets_service import SourceProject
from tools.local.waiting import PATIENCE_SECONDS
from tools.soak.ledger import Change

__all__ = ["Committed", "certainly", "commit"]

_AGAIN_SECONDS = 0.5
_GIVEN_UP_SECONDS = 2 * PATIENCE_SECONDS
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_DONE_ALREADY = {"POST": 409, "DELETE": 404}
"""What a request is answered with that is repeated, because nobody answered after it was carried out."""

Committed = tuple[float, bool]
"""When a change was answered (`time.monotonic`), and whether at once: else it may have been made before."""


async def certainly(api: KubeApi, method: str, path: str, body: Manifest | None = None) -> None:
    """The object is created, merged into, or being deleted.

    Raises:
        BenchError: the API server refused it for good, or gave no answer for twice as long as a wait may take.
    """
    deadline = time.monotonic() + _GIVEN_UP_SECONDS
    repeated = False
    while True:
        content_type = MERGE_PATCH if method == "PATCH" else "application/json"
        try:
            await api.send(method, path, body, content_type=content_type)
        except RefusedError as error:
            if repeated and error.status == _DONE_ALREADY.get(method):
                return
            if error.status not in _PASSING or time.monotonic() > deadline:
                raise
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if time.monotonic() > deadline:
                msg = f"{method} {path}: no answer for {_GIVEN_UP_SECONDS:g} s"
                raise BenchError(msg) from error
        else:
            return
        repeated = True
        await asyncio.sleep(_AGAIN_SECONDS)


async def commit(project: SourceProject, path: str, change: Change) -> Committed:
    """The service holds the change.

    Raises:
        BenchError: the service refused it for good, or gave no answer for twice as long as a wait may take.
    """
    deadline = time.monotonic() + _GIVEN_UP_SECONDS
    at_first = True
    while True:
        try:
            return await asyncio.to_thread(_send, project, path, change), at_first
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            if change.removed and not at_first and status == 404:
                return time.monotonic(), False
            if status not in _PASSING or time.monotonic() > deadline:
                msg = f"the service answered a change of {path} with {status}"
                raise BenchError(msg) from error
        except httpx.TransportError as error:
            if time.monotonic() > deadline:
                msg = f"the service gave no answer to a change of {path} for {_GIVEN_UP_SECONDS:g} s"
                raise BenchError(msg) from error
        at_first = False
        await asyncio.sleep(_AGAIN_SECONDS)


def _send(project: SourceProject, path: str, change: Change) -> float:
    if change.removed:
        project.remove(change.removed, path=path)
    else:
        project.store(change.values, path=path)
    return time.monotonic()
