"""Follows resources of others, which may be absent, appear and go: never a reason to end anything else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from keybearer.base.backoff import jittered
from keybearer.base.logs import get_logger
from keybearer.kube.connection import Connection
from keybearer.kube.errors import KubeError
from keybearer.kube.list_watch import ListWatch, Receiver
from keybearer.kube.resources import Resource

__all__ = ["OptionalWatch", "ServedGroups"]

_LOOK_EVERY = timedelta(seconds=10)

_log = get_logger(__name__)


class ServedGroups:
    """Which groups and versions the API server serves: one small request now and then, for all who want to know.

    Args:
        ask: returns them, as `Gateway.group_versions` does.
        rng: spreads the requests.
    """

    def __init__(self, ask: Callable[[], Awaitable[frozenset[str]]], rng: random.Random) -> None:
        self._ask = ask
        self._rng = rng
        self._served: frozenset[str] = frozenset()
        self._at_first: frozenset[str] | None = None
        self._looked = asyncio.Event()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                self._served = await self._ask()
                self._at_first = self._served if self._at_first is None else self._at_first
            except KubeError as error:
                _log.debug("groups_not_listed", error=str(error))  # whatever serves tells of an outage louder
            looked, self._looked = self._looked, asyncio.Event()
            looked.set()
            await asyncio.sleep(jittered(_LOOK_EVERY, self._rng).total_seconds())

    async def until_served(self, resource: Resource) -> None:
        """Return when the next look, or one after it, finds the group and version of the resource."""
        while True:
            await self._looked.wait()
            if self.serves(resource):
                return

    def serves(self, resource: Resource) -> bool:
        """Tell whether the last look found the group and version of the resource; it may lack the resource still."""
        return resource.api_version in self._served

    def served_from_start(self, resource: Resource) -> bool:
        """Tell whether the first look that was answered found the group and version of the resource."""
        return self._at_first is not None and resource.api_version in self._at_first


class OptionalWatch:
    """Follows the objects of one resource whenever the API server serves it.

    Args:
        connection: borrowed.
        groups: says when it is worth a try.
        resource: what is followed.
        receiver: who is told; when the resource goes, that all its objects are gone.
        rng: spreads reconnecting.
        namespaces: one watch in each of these; None watches all.
        label_selector: which objects; chosen by the API server.
        on_followed: called whenever the objects come to be followed.
    """

    def __init__(
        self,
        connection: Connection,
        groups: ServedGroups,
        resource: Resource,
        receiver: Receiver,
        *,
        rng: random.Random,
        namespaces: Sequence[str] | None,
        label_selector: str = "",
        on_followed: Callable[[], None] = lambda: None,
    ) -> None:
        self.resource = resource
        self._groups = groups
        self._on_followed = on_followed
        self._stood = False
        self._receiver = receiver
        self._watch = ListWatch(
            connection,
            resource,
            receiver,
            label_selector=label_selector,
            metadata_only=False,
            rng=rng,
            namespaces=namespaces,
            optional=True,
        )
        self._watch.on_followed = self._is_followed

    @property
    def trouble(self) -> str | None:
        """Say what keeps the objects from being followed, or None."""
        return self._watch.trouble

    @property
    def finds_older(self) -> bool:
        """Tell whether a listing may find objects that others followed before us.

        Later ones find what was made in a gap, and of a kind that came only after us there were none to follow.
        """
        return not self._stood and self._groups.served_from_start(self.resource)

    def _is_followed(self) -> None:
        self._stood = self._stood or self._watch.trouble is None
        self._on_followed()

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            await self._groups.until_served(self.resource)
            await self._watch.run()
            # The group may be there without the resource: the next try comes with the next look.
            _log.debug("resource_not_served", resource=self.resource.plural, group=self.resource.group)
            for key in self._receiver.existing(None):
                self._receiver.gone(key, None)
