"""Follows resources of others, which may be absent, appear and go: never a reason to end anything else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta

from keybearer.base.backoff import jittered
from keybearer.base.logs import get_logger
from keybearer.kube.connection import Connection
from keybearer.kube.errors import KubeError
from keybearer.kube.list_watch import ListWatch, Receiver
from keybearer.kube.resources import Resource

__all__ = ["OptionalWatch", "ServedVersions"]

_LOOK_EVERY = timedelta(seconds=10)

_log = get_logger(__name__)


class ServedVersions:
    """Decides in which version we speak of each resource, by a few small requests now and then.

    A version stays as long as it is served, also where a preferred one comes beside it: what is followed goes on.

    Args:
        ask: names what the API server serves beside a resource, as `Gateway.plurals_beside` does.
        resources: to look for, in the version that is preferred.
        rng: spreads the looks.
        tell: told the kind of each resource and its version, or `none`, at first and whenever it is another.
    """

    def __init__(
        self,
        ask: Callable[[Resource], Awaitable[frozenset[str]]],
        resources: Iterable[Resource],
        rng: random.Random,
        tell: Callable[[str, str], None],
    ) -> None:
        self._ask = ask
        self._resources = tuple(resources)
        self._rng = rng
        self._tell = tell
        self._served: Mapping[Resource, Resource | None] = {}
        self._at_first: Mapping[Resource, Resource | None] | None = None
        self._looked = asyncio.Event()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                found = await self._look()
            except KubeError as error:
                # Whatever serves tells of an outage louder.
                _log.debug("versions_not_known", error=str(error))
            else:
                self._take_in(found)
            await asyncio.sleep(jittered(_LOOK_EVERY, self._rng).total_seconds())

    async def next(self, resource: Resource) -> Resource | None:
        """Return the resource in the version that the next look finds; None where it is not served."""
        await self._looked.wait()
        return self._served.get(resource)

    def of(self, resource: Resource) -> Resource:
        """Return the resource in the version that the last look found; where it found none, as it is."""
        return self._served.get(resource) or resource

    def served_from_start(self, resource: Resource) -> bool:
        """Tell whether the first look that was answered found the resource."""
        return self._at_first is not None and self._at_first.get(resource) is not None

    async def _look(self) -> Mapping[Resource, Resource | None]:
        found: dict[Resource, Resource | None] = {}
        plurals: dict[str, frozenset[str]] = {}
        for resource in self._resources:
            found[resource] = None
            for one in dict.fromkeys((self.of(resource), *resource.versions)):
                if one.api_version not in plurals:
                    plurals[one.api_version] = await self._ask(one)
                if one.plural in plurals[one.api_version]:
                    found[resource] = one
                    break
        return found

    def _take_in(self, found: Mapping[Resource, Resource | None]) -> None:
        before, self._served = self._served, found
        self._at_first = found if self._at_first is None else self._at_first
        for resource, one in found.items():
            if resource not in before or before[resource] != one:
                version = "none" if one is None else one.version
                _log.info("served_version", kind=resource.kind, group=resource.group, version=version)
                self._tell(resource.kind, version)
        looked, self._looked = self._looked, asyncio.Event()
        looked.set()


class OptionalWatch:
    """Follows the objects of one resource whenever the API server serves it.

    Args:
        connection: borrowed.
        versions: says when it is worth a try, and in which version.
        resource: what is followed, in the version that is preferred.
        receiver: who is told; when the resource goes, that all its objects are gone.
        rng: spreads reconnecting.
        namespaces: one watch in each of these; None watches all.
        label_selector: which objects; chosen by the API server.
        on_followed: called whenever the objects come to be followed.
    """

    def __init__(
        self,
        connection: Connection,
        versions: ServedVersions,
        resource: Resource,
        receiver: Receiver,
        *,
        rng: random.Random,
        namespaces: Sequence[str] | None,
        label_selector: str = "",
        on_followed: Callable[[], None] = lambda: None,
    ) -> None:
        self.resource = resource
        self._versions = versions
        self._on_followed = on_followed
        self._stood = False
        self._receiver = receiver
        self._watches = {
            one: ListWatch(
                connection,
                one,
                receiver,
                label_selector=label_selector,
                metadata_only=False,
                rng=rng,
                namespaces=namespaces,
                optional=True,
            )
            for one in resource.versions
        }
        for watch in self._watches.values():
            watch.on_followed = self._is_followed
        self._watch = self._watches[resource]

    @property
    def trouble(self) -> str | None:
        """Say what keeps the objects from being followed, or None."""
        return self._watch.trouble

    @property
    def finds_older(self) -> bool:
        """Tell whether a listing may find objects that others followed before us.

        Later ones find what was made in a gap, and of a kind that came only after us there were none to follow.
        """
        return not self._stood and self._versions.served_from_start(self.resource)

    def _is_followed(self) -> None:
        self._stood = self._stood or self._watch.trouble is None
        self._on_followed()

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            served = await self._versions.next(self.resource)
            if served is None:
                for key in self._receiver.existing(None):
                    self._receiver.gone(key, None)
            else:  # where this is another version, its first listing finds what went in between
                self._watch = self._watches[served]
                await self._watch.run()
