"""Follows objects that manifests refer to, by their metadata alone.

One watch of a resource for all references: a Secret that nobody refers to passes through as one line and
leaves nothing behind. Secrets of our own are left out by the API server
(`keybearer.dev/managed!=true`, which takes objects without the label too).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Generic
from urllib.parse import urlencode

from keybearer.base.backoff import Backoff
from keybearer.base.logs import get_logger
from keybearer.kube.connection import Connection, Request
from keybearer.kube.documents import METADATA
from keybearer.kube.errors import AnswerTooLargeError, GoneError, KubeError, UnavailableError
from keybearer.kube.exchange import Exchange
from keybearer.kube.pages import ListQuery, pages
from keybearer.kube.references import OwnerT, ReferenceBook
from keybearer.kube.resources import JsonObject, ObjectKey, Resource
from keybearer.kube.watch_stream import watch_events

__all__ = ["ReferenceWatch"]

_NOT_OURS = "keybearer.dev/managed!=true"
_PAGE_SIZE = 100
_WATCH_SECONDS = 300
"""How long the API server keeps one watch up; it then ends in good order and is taken up where it was."""

_SILENCE_SECONDS = 90.0
"""Bookmarks come about each minute, so a longer silence is a dead connection."""

_CONNECT_SECONDS = 5.0
_BACKOFF = Backoff(timedelta(seconds=0.5), timedelta(seconds=10))

_log = get_logger(__name__)


class ReferenceWatch(Generic[OwnerT]):
    """One metadata-only watch of one resource, and who wants to know about which of its objects.

    An owner first calls `follow`, then reads the objects, then tells with `seen` which versions it read; from
    then on it is called back whenever one of them appears, changes or goes. Without `seen` it may be called
    back once more than needed, never once less.

    Args:
        connection: borrowed.
        resource: what is watched.
        on_change: called with the owners that refer to what has changed; must only take note.
        rng: spreads reconnecting.
        namespaces: one watch in each of these; None watches all.
    """

    def __init__(
        self,
        connection: Connection,
        resource: Resource,
        *,
        on_change: Callable[[frozenset[OwnerT]], None],
        rng: random.Random,
        namespaces: Sequence[str] | None = None,
    ) -> None:
        self._connection = connection
        self._exchange = Exchange(connection, max_in_flight=2)
        self._resource = resource
        self._on_change = on_change
        self._rng = rng
        self._namespaces: tuple[str | None, ...] = (None,) if namespaces is None else tuple(namespaces)
        self._book: ReferenceBook[OwnerT] = ReferenceBook()
        self._wanted = asyncio.Event()

    @property
    def followed(self) -> int:
        """Return how many objects are referred to."""
        return len(self._book)

    def follow(self, owner: OwnerT, keys: Collection[ObjectKey]) -> None:
        """Make these the objects that the owner refers to; none forgets it. Call before reading them."""
        self._book.follow(owner, keys)
        if keys:
            self._wanted.set()

    def seen(self, owner: OwnerT, key: ObjectKey, resource_version: str | None) -> None:
        """Note what the owner has read (None: there is no such object), so that this alone calls nobody."""
        self._book.seen(owner, key, resource_version)

    async def run(self) -> None:
        """Watch until cancelled; nothing is asked of the API server before the first `follow`."""
        await self._wanted.wait()
        async with asyncio.TaskGroup() as group:
            for namespace in self._namespaces:
                name = f"watch {self._resource.plural} of {namespace or 'all namespaces'}"
                group.create_task(self._keep_watching(namespace), name=name)

    async def _keep_watching(self, namespace: str | None) -> None:
        version = ""  # of the last line that was worked off; empty when all must be listed
        failures = 0
        while True:
            try:
                if not version:
                    version = await self._list(namespace)
                heard = False
                async with aclosing(self._watch(namespace, version)) as lines:
                    async for kind, found in lines:
                        version = self._note(kind, found)
                        heard, failures = True, 0
                if heard:
                    continue  # ended in good order
                failures += 1
            except (GoneError, AnswerTooLargeError) as error:
                version = ""
                failures += 1
                _log.info("references_listed_anew", resource=self._resource.plural, error=str(error))
            except KubeError as error:
                failures += 1
                _log.warning("reference_watch_broken", resource=self._resource.plural, error=str(error))
            await asyncio.sleep(_BACKOFF.delay(failures, self._rng).total_seconds())

    async def _list(self, namespace: str | None) -> str:
        """Compare all that exists with what owners know; return the version that the watch goes on from."""
        query = ListQuery(self._resource, namespace, _NOT_OURS, metadata_only=True, page_size=_PAGE_SIZE)
        missing = self._book.existing(namespace)
        surprised: set[OwnerT] = set()
        version = ""
        async for page in pages(self._exchange, query):
            version = page.resource_version
            for item in page.items:
                key, current = _identify(item)
                missing.discard(key)
                surprised |= self._book.changed(key, current)
        for key in missing:
            surprised |= self._book.changed(key, None)
        self._tell(frozenset(surprised))
        return version

    def _watch(self, namespace: str | None, version: str) -> AsyncGenerator[tuple[str, JsonObject], None]:
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "labelSelector": _NOT_OURS,
            "resourceVersion": version,
            "timeoutSeconds": _WATCH_SECONDS,
        }
        target = f"{self._resource.collection_path(namespace)}?{urlencode(query)}"
        request = Request("GET", target, METADATA, timeout_seconds=_CONNECT_SECONDS)
        return watch_events(self._connection, request, silence_seconds=_SILENCE_SECONDS)

    def _note(self, kind: str, found: JsonObject) -> str:
        """Work off one event; return the version that the watch has come to."""
        key, version = _identify(found)
        if kind != "BOOKMARK":
            self._tell(self._book.changed(key, None if kind == "DELETED" else version))
        return version

    def _tell(self, owners: frozenset[OwnerT]) -> None:
        if owners:
            self._on_change(owners)


def _identify(found: JsonObject) -> tuple[ObjectKey, str]:
    match found.get("metadata"):
        case {"resourceVersion": str(version), **metadata}:
            namespace, name = metadata.get("namespace"), metadata.get("name")
            return ObjectKey(str(namespace or ""), str(name or "")), version
        case _:
            raise UnavailableError("the API server sent an object without metadata")
