"""The kopf shell: watches in, keys out. No decision is taken here, and nothing is kept but slim copies.

kopf gives authentication, discovery, reconnecting watches and re-listing. Its diff handlers, daemons, timers,
indexes, finalizers and annotations are not used; what they cost and where they break was measured (see
`docs/decisions/0003-kopf-as-a-shell.md`).
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import aiohttp
import kopf
from pydantic import JsonValue

from keybearer.controllers.intake import EventIntake
from keybearer.controllers.kinds import RESOURCES
from keybearer.kube.resources import Resource

__all__ = ["kopf_settings", "new_registry", "watch"]

_IDLE_SECONDS = 0.5
"""How long kopf keeps the task and queue of an object that says nothing; its default of 5 s keeps 10,000 alive."""
_EXIT_SECONDS = 5.0
_PAGE = 50
"""Objects per page of a listing. kopf holds a page parsed until all of it is taken in: 4 MiB for 1 MiB of data."""


def new_registry(intake: EventIntake, session: aiohttp.ClientSession, server: str) -> kopf.OperatorRegistry:
    """Return the handlers: one login, and one event handler for each of our kinds."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    async def login(**_: object) -> kopf.AiohttpSession:
        return kopf.AiohttpSession(server=server, aiohttp_session=session)

    for resource in RESOURCES.values():
        _follow(registry, resource, intake)
    return registry


async def watch(
    registry: kopf.OperatorRegistry,
    namespaces: Sequence[str],
    *,
    ready: asyncio.Event,
    stop: asyncio.Event,
    take_signals: Callable[[], None],
) -> None:
    """Run kopf until `stop` is set. On its way out it waits for, and then cancels, all tasks that began after it.

    Args:
        registry: the handlers.
        namespaces: to watch; none means all.
        ready: set when the watches begin.
        stop: set by the caller.
        take_signals: makes the signals lead to the caller again. kopf takes them on its start, and a signal that
            reached kopf would end the watches without a drain.

    Raises:
        Exception: what the watches ended with.
    """
    begun_before = asyncio.all_tasks()
    tasks = await kopf.spawn_tasks(
        registry=registry,
        settings=kopf_settings(),
        clusterwide=not namespaces,
        namespaces=namespaces,
        ready_flag=ready,
        stop_flag=stop,
    )
    take_signals()  # taking them is the last thing that kopf did, so that no signal has been handled since
    await kopf.run_tasks(tasks, ignored=begun_before)


def _follow(registry: kopf.OperatorRegistry, resource: Resource, intake: EventIntake) -> None:
    @kopf.on.event(resource.group, resource.version, resource.plural, registry=registry)
    async def take_in(event: kopf.RawEvent, **_: object) -> None:
        intake.custom_resource(resource.kind, event["type"], _body(event))


def kopf_settings() -> kopf.OperatorSettings:
    """Return settings under which kopf writes nothing, keeps little and never gives up."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.peering.standalone = True
    settings.watching.chunk_size = _PAGE
    settings.queueing.idle_timeout = _IDLE_SECONDS
    settings.queueing.exit_timeout = _EXIT_SECONDS
    settings.persistence.diffbase_storage = _NoDiffBase()
    settings.persistence.progress_storage = _NoProgress()
    settings.networking.error_backoffs = _Endless()
    return settings


class _Endless:
    """Waits between tries, without an end: kopf's own eight make an outage of a minute the end of the process."""

    def __iter__(self) -> Iterator[float]:
        return itertools.chain((0.2, 0.5, 1, 2), itertools.repeat(3))


class _NoDiffBase(kopf.DiffBaseStorage):
    """Remembers no last-handled state; building one would copy each object on each event."""

    def build(self, **_: object) -> kopf.BodyEssence:
        return kopf.BodyEssence()

    def fetch(self, **_: object) -> kopf.BodyEssence | None:
        return None

    def store(self, **_: object) -> None:
        return None


class _NoProgress(kopf.ProgressStorage):
    """Keeps no progress of handlers; there are none that could be interrupted."""

    def fetch(self, **_: object) -> None:
        return None

    def store(self, **_: object) -> None:
        return None

    def purge(self, **_: object) -> None:
        return None

    def touch(self, **_: object) -> None:
        return None

    def clear(self, *, essence: kopf.BodyEssence) -> kopf.BodyEssence:
        return essence


def _body(event: kopf.RawEvent) -> Mapping[str, JsonValue]:
    body: Mapping[str, JsonValue] = dict(event["object"])  # type: ignore[arg-type]
    return body
