"""What the cluster holds, by watches of all of it: scenarios wait for it, and each version is looked at."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar, cast

from tools.bench.errors import NotInTimeError
from tools.bench.kube import KubeApi
from tools.bench.watching import Watched, WatchEvent, watching
from tools.local.kube_api import Body

__all__ = ["COLLECTIONS", "Mirror"]

T = TypeVar("T")

COLLECTIONS = {
    "Secret": "/api/v1/secrets",
    "ConfigMap": "/api/v1/configmaps",
    "SecretSync": "/apis/keybearer.dev/v1alpha1/secretsyncs",
    "AppConnection": "/apis/keybearer.dev/v1alpha1/appconnections",
    "CertificateProfile": "/apis/keybearer.dev/v1alpha1/certificateprofiles",
    "Namespace": "/api/v1/namespaces",
}
"""Where the kinds that are followed are found."""

OnChange = Callable[[str, str, Body], None]
"""Told of each event: its type, the kind, and the object."""


class Mirror:
    """The newest version of every object of these kinds.

    Attributes:
        listeners: told of each event of a namespace.
    """

    def __init__(self) -> None:
        self.listeners: dict[str, OnChange] = {}
        self._objects: dict[str, dict[tuple[str, str], Body]] = defaultdict(dict)
        self._changed: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def find(self, kind: str, namespace: str, name: str) -> Body | None:
        """Return an object, or None."""
        return self._objects[namespace].get((kind, name))

    def objects(self, namespace: str) -> Iterator[tuple[str, str, Body]]:
        """Yield kind, name and body of each object of a namespace."""
        for (kind, name), body in self._objects[namespace].items():
            yield kind, name, body

    async def until(self, namespace: str, probe: Callable[[], T | None], awaited: str, within: float) -> T:
        """Return the first answer of the probe that is neither None nor False; asked whenever the namespace changes.

        Raises:
            NotInTimeError: it never came.
        """
        try:
            async with asyncio.timeout(within):
                while True:
                    changed = self._changed[namespace]
                    found = probe()
                    if found is not None and found is not False:
                        return found
                    await changed.wait()
        except TimeoutError as error:
            raise NotInTimeError(awaited, within, [namespace]) from error

    @contextlib.asynccontextmanager
    async def following(self, api: KubeApi) -> AsyncIterator[None]:
        """Follow the cluster while the block runs; of what is there already, nothing is told."""
        watched = [
            Watched(path, lambda event, _, kind=kind: self._take_in(kind, event))  # type: ignore[misc] # its default
            for kind, path in COLLECTIONS.items()
        ]
        async with watching(api, *watched):
            yield

    def _take_in(self, kind: str, event: WatchEvent) -> None:
        body = cast("Body", event["object"])
        meta = body["metadata"]
        namespace = meta["name"] if kind == "Namespace" else meta.get("namespace", "")
        there = self._objects[namespace]
        if event["type"] == "DELETED":
            there.pop((kind, meta["name"]), None)
        else:
            there[kind, meta["name"]] = body
        if listener := self.listeners.get(namespace):
            listener(event["type"], kind, body)
        changed, self._changed[namespace] = self._changed[namespace], asyncio.Event()
        changed.set()
