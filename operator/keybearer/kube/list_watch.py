"""Lists objects, then watches them, without an end: what exists is told once, and from then on what happens to it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Protocol
from urllib.parse import urlencode

from keybearer.base.backoff import Backoff
from keybearer.base.logs import get_logger
from keybearer.kube.connection import Connection, Request
from keybearer.kube.documents import METADATA, PLAIN
from keybearer.kube.errors import (
    AnswerTooLargeError,
    ForbiddenError,
    GoneError,
    KubeError,
    NotFoundError,
    UnavailableError,
)
from keybearer.kube.exchange import Exchange
from keybearer.kube.pages import ListQuery, pages
from keybearer.kube.resources import JsonObject, ObjectKey, Resource
from keybearer.kube.watch_stream import watch_events

__all__ = ["ListWatch", "Receiver"]

_PAGE_SIZE = 100
_WATCH_SECONDS = 300
"""How long the API server keeps one watch up; it then ends in good order and is taken up where it was."""

_SILENCE_SECONDS = 90.0
"""Bookmarks come about each minute, so a longer silence is a dead connection."""

_CONNECT_SECONDS = 5.0
_BACKOFF = Backoff(timedelta(seconds=0.5), timedelta(seconds=10))
_FORBIDDEN_BACKOFF = Backoff(timedelta(seconds=1), timedelta(seconds=60))
"""A right that is missing stays so, mostly; but an API server that has just begun knows no rights for a moment."""

_log = get_logger(__name__)


class Receiver(Protocol):
    """Who is told. Its methods only take note: they neither wait nor fail."""

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        """Return what it believes to exist in the namespace (None: in all); asked before each listing."""

    def listed(self, key: ObjectKey, found: JsonObject) -> None:
        """Take note of an object that a listing found."""

    def changed(self, key: ObjectKey, found: JsonObject) -> None:
        """Take note of an object that was created or changed."""

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:
        """Take note of an object that was deleted.

        Args:
            key: which.
            last: its last version; None where a listing no longer has what was believed to exist.
        """


class ListWatch:
    """Follows the objects of one resource; keeps none of them.

    Deletions and changes that fall between two watches are found by the listing after them. After a watch that broke,
    the version of the API server is looked at first.

    Args:
        connection: borrowed.
        resource: what is followed.
        receiver: who is told.
        label_selector: which objects; chosen by the API server.
        metadata_only: leave out everything but metadata.
        rng: spreads reconnecting.
        namespaces: one watch in each of these; None watches all.
        optional: the resource may be gone, or not ours to see: what is gone ends the watch, and refusals are tried
            again at leisure and told once.
    """

    def __init__(
        self,
        connection: Connection,
        resource: Resource,
        receiver: Receiver,
        *,
        label_selector: str,
        metadata_only: bool,
        rng: random.Random,
        namespaces: Sequence[str] | None = None,
        optional: bool = False,
    ) -> None:
        self._connection = connection
        self._exchange = Exchange(connection, max_in_flight=2)
        self._resource = resource
        self._receiver = receiver
        self._selector = label_selector
        self._metadata_only = metadata_only
        self._rng = rng
        self._optional = optional
        self._namespaces: tuple[str | None, ...] = (None,) if namespaces is None else tuple(namespaces)
        self._troubles: dict[str | None, str] = dict.fromkeys(self._namespaces, "not listed yet")
        self.on_followed: Callable[[], None] = lambda: None
        """Called whenever a watch stands that did not before."""
        self.on_refused: Callable[[], None] | None = None
        """Called whenever we may not list or watch. If a receiver forgets then, all is listed anew afterwards."""

    @property
    def trouble(self) -> str | None:
        """Say what keeps it from following the objects, or None."""
        told = (
            f"{self._resource.plural} of {namespace or 'all namespaces'}: {why}"
            for namespace, why in self._troubles.items()
        )
        return next(told, None)

    async def run(self) -> None:
        """Follow until cancelled; what is optional, until the API server serves it no more."""
        async with asyncio.TaskGroup() as group:
            for namespace in self._namespaces:
                name = f"watch {self._resource.plural} of {namespace or 'all namespaces'}"
                group.create_task(self._keep_watching(namespace), name=name)

    async def _keep_watching(self, namespace: str | None) -> None:
        version = ""  # of the last line that was worked off; empty when all must be listed
        failures = refusals = 0
        while True:
            is_refused = False
            try:
                if failures and version and await self._is_of_before(namespace, version):
                    version = ""
                if not version:
                    version = await self._list(namespace)
                heard = False
                async with aclosing(self._watch(namespace, version)) as lines:
                    async for kind, found in lines:
                        version = self._take_in(kind, found)
                        heard, failures, refusals = True, 0, 0
                if heard:
                    continue  # ended in good order
                failures += 1
            except (GoneError, AnswerTooLargeError) as error:
                version = ""
                failures += 1
                _log.info("listed_anew", resource=self._resource.plural, error=str(error))
            except KubeError as error:
                if self._optional and isinstance(error, NotFoundError):
                    self._troubles[namespace] = str(error)
                    return
                failures += 1
                is_refused = self._note(namespace, error)
                if isinstance(error, ForbiddenError) and self.on_refused is not None:
                    version = ""
                    self.on_refused()
            refusals = refusals + 1 if is_refused else 0
            backoff, number = (_FORBIDDEN_BACKOFF, refusals) if is_refused else (_BACKOFF, failures)
            await asyncio.sleep(backoff.delay(number, self._rng).total_seconds())

    def _note(self, namespace: str | None, error: KubeError) -> bool:
        """Take note of what keeps it from following; return whether to try again at leisure."""
        if not self._optional or self._troubles.get(namespace) != str(error):
            _log.warning("watch_broken", resource=self._resource.plural, error=str(error))
        self._troubles[namespace] = str(error)
        return self._optional and isinstance(error, ForbiddenError)

    async def _list(self, namespace: str | None) -> str:
        """Tell all that exists and what doesn't any more; return the version that the watch goes on from."""
        query = ListQuery(
            self._resource,
            namespace,
            self._selector,
            metadata_only=self._metadata_only,
            page_size=_PAGE_SIZE,
        )
        missing = self._receiver.existing(namespace)
        version = ""
        async for page in pages(self._exchange, query):
            version = page.resource_version
            for item in page.items:
                key, _ = _identify(item)
                missing.discard(key)
                self._receiver.listed(key, item)
        for key in missing:
            self._receiver.gone(key, None)
        return version

    async def _is_of_before(self, namespace: str | None, version: str) -> bool:
        """Tell whether the API server's versions lie before the one that the watch has come to.

        So it is where etcd was restored without raising versions. A watch would not be refused then, but silent until
        versions have passed that one.
        """
        one = ListQuery(self._resource, namespace, metadata_only=True, page_size=1)
        async with aclosing(pages(self._exchange, one)) as found:
            now = (await anext(found)).resource_version
        is_before = now.isdecimal() and version.isdecimal() and int(now) < int(version)
        if is_before:
            _log.warning("cluster_restored", resource=self._resource.plural)
        return is_before

    def _watch(self, namespace: str | None, version: str) -> AsyncGenerator[tuple[str, JsonObject], None]:
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "labelSelector": self._selector,
            "resourceVersion": version,
            "timeoutSeconds": _WATCH_SECONDS,
        }
        target = f"{self._resource.collection_path(namespace)}?{urlencode(query)}"
        accept = METADATA if self._metadata_only else PLAIN
        request = Request("GET", target, accept, timeout_seconds=_CONNECT_SECONDS)
        return watch_events(
            self._connection,
            request,
            silence_seconds=_SILENCE_SECONDS,
            on_open=lambda: self._end_trouble(namespace),
        )

    def _end_trouble(self, namespace: str | None) -> None:
        if self._troubles.pop(namespace, None) is not None:
            self.on_followed()

    def _take_in(self, kind: str, found: JsonObject) -> str:
        """Work off one event; return the version that the watch has come to."""
        key, version = _identify(found)
        if kind == "DELETED":
            self._receiver.gone(key, found)
        elif kind != "BOOKMARK":
            self._receiver.changed(key, found)
        return version


def _identify(found: JsonObject) -> tuple[ObjectKey, str]:
    match found.get("metadata"):
        case {"resourceVersion": str(version), **metadata}:
            namespace, name = metadata.get("namespace"), metadata.get("name")
            return ObjectKey(str(namespace or ""), str(name or "")), version
        case _:
            raise UnavailableError("the API server sent an object without metadata")
