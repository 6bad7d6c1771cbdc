"""Answers the questions of the page from the objects that the dashboard has seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain

from keybearer.cli.dashboard.attention import attention
from keybearer.cli.dashboard.expiring import expiring_certificates
from keybearer.cli.dashboard.following import follow
from keybearer.cli.dashboard.inventory import Changes, Shelf, all_notes
from keybearer.cli.dashboard.leading import leading
from keybearer.cli.dashboard.pushes import pushes
from keybearer.cli.dashboard.record import Record, record_of
from keybearer.cli.dashboard.replicas import Operators, look_at_operators
from keybearer.cli.dashboard.uses import uses_of
from keybearer.cli.dashboard.view import Query, View
from keybearer.cli.dashboard.written import Index, index_of, written_secrets
from keybearer.cli.kubectl.cluster import Cluster
from keybearer.controllers.kinds import RESOURCES
from keybearer.kube.resources import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    STATEFUL_SETS,
    JsonObject,
    Resource,
)

__all__ = ["Board"]

_WORKLOADS = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, CRON_JOBS)
_OPERATORS_SECONDS = 5.0
"""How long a look at the operators counts: several pages that are open ask once."""


class Board:
    """What the dashboard shows.

    Args:
        cluster: borrowed; its rights decide what is seen.
        namespaces: to look in; none of them means all.
    """

    def __init__(self, cluster: Cluster, namespaces: Sequence[str]) -> None:
        self.changes = Changes()
        self._cluster = cluster
        self._namespaces = tuple(namespaces)
        self._objects = {kind: self._records(kind, one) for kind, one in RESOURCES.items()}
        self._workloads = {one.kind: Shelf(one, uses_of, self.changes.tell) for one in _WORKLOADS}
        self._index: tuple[int, Index] = (-1, {})
        self._operators = Operators()
        self._looked = float("-inf")
        self._look = asyncio.Lock()

    def _records(self, kind: str, resource: Resource) -> Shelf[Record]:
        def keep(body: JsonObject) -> Record:
            return record_of(kind, body)

        return Shelf(resource, keep, self.changes.tell)

    @property
    def views(self) -> Sequence[str]:
        """The names of all views, in the order of the page."""
        return (*self._views, "operator")

    async def follow(self) -> None:
        """Follow the cluster until cancelled."""
        namespace = self._cluster.namespace
        async with asyncio.TaskGroup() as group:
            for records in self._objects.values():
                group.create_task(follow(self._cluster.connection, records, self._namespaces, namespace))
            for uses in self._workloads.values():
                group.create_task(follow(self._cluster.connection, uses, self._namespaces, namespace))

    async def view(self, name: str, query: Query) -> View:
        """Return a page of a view.

        Raises:
            KeyError: no view has this name.
        """
        if name == "operator":
            return leading(await self._seen_operators(), query, _now())
        return self._views[name](query)

    @property
    def _views(self) -> Mapping[str, Callable[[Query], View]]:
        return {
            "attention": lambda query: attention(
                chain.from_iterable(one.kept.values() for one in self._objects.values()),
                query,
                all_notes(*self._objects.values()),
            ),
            "secrets": lambda query: written_secrets(
                self._kept("SecretSync", "CertificateProfile"),
                self._users(),
                query,
                (*self._notes("SecretSync", "CertificateProfile"), *all_notes(*self._workloads.values())),
            ),
            "certificates": lambda query: expiring_certificates(
                self._kept("CertificateProfile"),
                self._users(),
                query,
                self._notes("CertificateProfile"),
                _now(),
            ),
            "pushes": lambda query: pushes(self._kept("SecretSync"), query, self._notes("SecretSync")),
        }

    def _kept(self, *kinds: str) -> list[Record]:
        return [record for kind in kinds for record in self._objects[kind].kept.values()]

    def _notes(self, *kinds: str) -> tuple[str, ...]:
        return all_notes(*(self._objects[kind] for kind in kinds))

    def _users(self) -> Index:
        revision, index = self._index
        if revision != self.changes.revision:
            index = index_of(
                (kind, key, uses)
                for kind, shelf in self._workloads.items()
                for key, uses in shelf.kept.items()
            )
            self._index = (self.changes.revision, index)
        return index

    async def _seen_operators(self) -> Operators:
        async with self._look:
            now = asyncio.get_running_loop().time()
            if now - self._looked >= _OPERATORS_SECONDS:
                self._operators = await look_at_operators(
                    self._cluster.connection, self._cluster.gateway, self._namespaces, self._cluster.namespace
                )
                self._looked = now
            return self._operators


def _now() -> datetime:
    return datetime.now(UTC)
