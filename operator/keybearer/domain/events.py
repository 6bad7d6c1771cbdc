"""Events: who listens to which project, and how a commit reaches them (wire.md section 7).

What a unit noted is told at once. What follows from it in the lists of other folders, by import or reference, is
looked up after the commit and only while somebody listens: a change of what follows is noted by itself, so that
nothing is missed in between.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.authentication import Authentication
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.errors import LimitReachedError
from keybearer.domain.event_stream import EventStream, Registration
from keybearer.store.database import Database
from keybearer.store.revisions import Changes, ListChange
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import EVENT_STREAMS_MAX

__all__ = ["Dependents", "Events"]

Dependents = Callable[[UnitOfWork, Sequence[ListChange]], Awaitable[Sequence[ListChange]]]
"""Finds how lists of other folders changed by these changes, through imports and references."""

_FOLLOWED_MAX = 100_000
"""Changes whose consequences still have to be looked up; past it all streams end."""
_GAP = "Events may have been missed; subscribe again and read anew"
_CLOSING = "The service is shutting down; subscribe again and read anew"
_MUCH = "Much has changed at once; subscribe again and read anew"
_log = get_logger(__name__)


class Events:
    """All streams of this process. `run` must be under way for consequences to be told."""

    def __init__(
        self,
        database: Database,
        authentication: Authentication,
        clock: Clock,
        dependents: Dependents,
    ) -> None:
        self._database = database
        self._authentication = authentication
        self._clock = clock
        self._dependents = dependents
        self._streams: dict[str, set[EventStream]] = defaultdict(set)
        self._followed: list[ListChange] = []
        self._woken = asyncio.Event()
        self._is_closed = False
        database.bus.subscribe(self._take, self._missed)

    @property
    def open_streams(self) -> int:
        """How many streams are open."""
        return sum(len(streams) for streams in self._streams.values())

    async def subscribe(
        self,
        principal: Principal,
        project_id: str,
        registrations: Sequence[Registration],
        ends_at: datetime | None,
        address: str | None,
    ) -> EventStream:
        """Return a new stream; nothing is kept for it before `listening` was entered.

        Args:
            principal: who listens.
            project_id: the project.
            registrations: what is asked for.
            ends_at: when the principal's token ends.
            address: where the principal listens from.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not read secrets in one of the places.
        """

        async def recheck() -> ProjectAccess:
            return await self._permit(
                await self._authentication.recheck(principal, address), project_id, registrations
            )

        access = await self._permit(principal, project_id, registrations)
        return EventStream(access, registrations, ends_at=ends_at, recheck=recheck, clock=self._clock)

    @asynccontextmanager
    async def listening(self, stream: EventStream) -> AsyncIterator[None]:
        """Have the stream told of what happens within.

        Raises:
            LimitReachedError: the principal has too many streams of the project.
        """
        project_id, identity_id = stream.access.project.id, stream.access.principal.identity_id
        present = self._streams.get(project_id, ())
        if sum(other.access.principal.identity_id == identity_id for other in present) >= EVENT_STREAMS_MAX:
            raise LimitReachedError(f"Too many active connections for project {project_id}")
        self._streams[project_id].add(stream)
        # From now on it hears of lost rights; one may have been lost since it was permitted.
        stream.doubt()
        if self._is_closed:
            stream.end(_CLOSING)
        try:
            yield
        finally:
            self._streams[project_id].discard(stream)
            if not self._streams[project_id]:
                del self._streams[project_id]

    async def run(self) -> None:
        """Look up the consequences of changes and tell them, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            changes, self._followed = self._followed, []
            try:
                async with self._database.reading() as unit:
                    consequences = await self._dependents(unit, changes)
            except Exception as error:  # noqa: BLE001 - whatever it is, readers must not wait for what won't come
                _log.error("events_not_followed", kind=type(error).__name__)
                self._end_all(_GAP)
            else:
                self._offer(consequences)

    def close(self) -> None:
        """End all streams at once; those to come end right after they begin."""
        self._is_closed = True
        self._end_all(_CLOSING)

    def _take(self, changes: Changes) -> None:
        if not self._streams:
            return
        for stream in self._all():
            principal = stream.access.principal
            if principal.organization_id in changes.organizations:
                stream.end(_MUCH)
            elif principal.identity_id in changes.identities or principal.token_id in changes.tokens:
                stream.doubt()
        if changes.folders:
            self._offer(changes.folders)
            self._followed += changes.folders
            if len(self._followed) > _FOLLOWED_MAX:
                self._followed.clear()
                self._end_all(_GAP)
            self._woken.set()

    def _missed(self) -> None:
        self._end_all(_GAP)

    def _offer(self, changes: Sequence[ListChange]) -> None:
        by_project: defaultdict[str, list[ListChange]] = defaultdict(list)
        for change in changes:
            by_project[change.project_id].append(change)
        for project_id, some in by_project.items():
            for stream in self._streams.get(project_id, ()):
                stream.offer(some)

    def _end_all(self, message: str) -> None:
        for stream in self._all():
            stream.end(message)

    def _all(self) -> Iterator[EventStream]:
        return (stream for streams in self._streams.values() for stream in streams)

    async def _permit(
        self, principal: Principal, project_id: str, registrations: Sequence[Registration]
    ) -> ProjectAccess:
        async with self._database.reading() as unit:
            access = await open_project(unit, principal, ProjectRef(id=project_id))
        for where in {registration.where for registration in registrations}:
            # Told is what happens in folders that may be read; a place must hold one.
            if where is None or not access.permissions.allows_beneath(Action.READ, Subject.SECRETS, where):
                access.require(Action.READ, Subject.SECRETS, where)
        return access
