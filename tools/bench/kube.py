"""The harness's own way to the API server: aiohttp, JSON, TLS from a kubeconfig file.

Nothing of Keybearer is used, so that its faults and its speed do not colour what is measured.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict, TypeVar

import aiohttp
import orjson
import yaml
from yarl import URL

from tools.bench.errors import BenchError, RefusedError

__all__ = [
    "APPLY_PATCH",
    "MERGE_PATCH",
    "SECRETSYNCS",
    "KubeApi",
    "Manifest",
    "ObjectMeta",
    "connect",
    "in_parallel",
    "secret_path",
    "secretsync_path",
]

APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
SECRETSYNCS = "/apis/keybearer.dev/v1alpha1/secretsyncs"

Manifest = Mapping[str, object]
_Item = TypeVar("_Item")


class ObjectMeta(TypedDict):
    """What the harness reads of an object's metadata."""

    name: str
    namespace: NotRequired[str]
    uid: str
    resourceVersion: str
    generation: NotRequired[int]


@dataclass(frozen=True, slots=True)
class _Access:
    server: str
    tls: ssl.SSLContext
    token: str | None


class KubeApi:
    """Requests to one API server as one user.

    Args:
        session: has the base URL and the credentials; borrowed.
    """

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def send(
        self,
        method: str,
        path: str,
        body: Manifest | bytes | None = None,
        *,
        content_type: str = "application/json",
        query: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return the body of the answer.

        Raises:
            RefusedError: the status was 400 or more.
        """
        content = orjson.dumps(body) if isinstance(body, Mapping) else body
        headers = {} if content is None else {"Content-Type": content_type}
        async with self._session.request(method, path, data=content, headers=headers, params=query) as answer:
            answered = await answer.read()
            if answer.status >= 400:
                msg = f"{method} {path}: {answer.status}: {answered[:400].decode(errors='replace')}"
                raise RefusedError(answer.status, msg)
            return answered

    async def serves(self, path: str) -> bool:
        """Return whether a GET of the path is answered with 200, and not with 404.

        Raises:
            BenchError: any other answer.
        """
        async with self._session.get(path, params={"limit": "1"}) as answer:
            if answer.status not in {200, 404}:
                msg = f"GET {path}: {answer.status}: {(await answer.text())[:400]}"
                raise BenchError(msg)
            return answer.status == 200

    async def lines(self, path: str, query: Mapping[str, str]) -> AsyncIterator[tuple[float, bytes]]:
        """Yield the lines of a stream as they come, each with the `time.monotonic` of its arrival.

        Raises:
            BenchError: the stream was refused.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
        async with self._session.get(path, params=query, timeout=timeout) as answer:
            if answer.status != 200:
                msg = f"watch of {path}: {answer.status}: {(await answer.text())[:400]}"
                raise BenchError(msg)
            rest = b""
            # Not readline: an object can be longer than the reader's buffer.
            async for piece in answer.content.iter_any():
                at = time.monotonic()
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    yield at, line


@contextlib.asynccontextmanager
async def connect(kubeconfig: Path, *, connections: int = 100) -> AsyncIterator[KubeApi]:
    """Be the user of that kubeconfig while the block runs, over at most so many connections."""
    access = _read_kubeconfig(kubeconfig)
    headers = {"Authorization": f"Bearer {access.token}"} if access.token else {}
    connector = aiohttp.TCPConnector(limit=connections, ssl=access.tls)
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(
        URL(access.server), connector=connector, headers=headers, timeout=timeout
    ) as session:
        yield KubeApi(session)


async def in_parallel(
    items: Iterable[_Item], work: Callable[[_Item], Awaitable[object]], *, at_once: int = 32
) -> None:
    """All items have been worked on, so many at once; the first error ends it."""
    rest = iter(items)

    async def worker() -> None:
        for item in rest:
            await work(item)

    async with asyncio.TaskGroup() as group:
        for number in range(at_once):
            group.create_task(worker(), name=f"worker {number}")


def secret_path(namespace: str, name: str = "") -> str:
    """Return the path of a Secret, or of the Secrets of the namespace."""
    return f"/api/v1/namespaces/{namespace}/secrets" + (f"/{name}" if name else "")


def secretsync_path(namespace: str, name: str = "") -> str:
    """Return the path of a SecretSync, or of those of the namespace."""
    return f"/apis/keybearer.dev/v1alpha1/namespaces/{namespace}/secretsyncs" + (f"/{name}" if name else "")


def _read_kubeconfig(path: Path) -> _Access:
    """Read a file that holds one cluster, one user and all data inside, as the control plane writes it."""
    document = yaml.safe_load(path.read_text())
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    tls = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]).decode())
    if "client-certificate-data" in user:
        # The ssl module reads certificate and key from files only.
        with tempfile.NamedTemporaryFile() as pem:
            pem.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            pem.flush()
            tls.load_cert_chain(pem.name)
    return _Access(server=cluster["server"], tls=tls, token=user.get("token"))


def _decoded(text: str) -> bytes:
    return base64.b64decode(text)
