"""One subscription to events: what it lets pass, what waits in it, and when it ends (wire.md section 7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from keybearer.base.clock import Clock
from keybearer.base.folder_paths import lies_within
from keybearer.base.logs import get_logger
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Subject, Where
from keybearer.domain.errors import DomainError, InvalidError
from keybearer.domain.paths import ROOT, normalize_path
from keybearer.store.revisions import ChangeKind, ListChange

__all__ = [
    "PENDING_MAX",
    "REFUSED",
    "Ended",
    "EventStream",
    "Happened",
    "Ping",
    "Registration",
    "watched_folder",
]

REFUSED = "Permission denied or refresh failed"
"""The words of wire.md section 7."""
PENDING_MAX = 10_000
"""Changes that wait for a slow reader; one more, and its stream ends."""

_EXPIRED = "The access token has expired; subscribe again with a fresh one and read anew"
_TOO_SLOW = "More changed than was taken from the stream; subscribe again and read anew"
_OTHER = "Permissions have changed; subscribe again and read anew"
_PING_EVERY = timedelta(seconds=15)
_RECHECK_EVERY = timedelta(seconds=60)
_BENEATH = "/**"
_log = get_logger(__name__)


def watched_folder(path: str) -> str:
    """Return the folder of a subscription; published operators write `/**` behind it to mean all beneath, too.

    Raises:
        InvalidError: it holds another wildcard. No folder's name does, so no change would match.
        SchemaViolationError: it is no path.
    """
    folder = normalize_path(path, field="secretPath").removesuffix(_BENEATH) or ROOT
    if "*" in folder:
        raise InvalidError(
            f"secretPath '{path}' can't be watched: give a folder, which stands for itself and all folders beneath "
            "it. `/**` may follow it, and no other wildcard"
        )
    return folder


@dataclass(frozen=True, slots=True)
class Registration:
    """A kind of change that is asked for; in the folder and under it, or without `where` anywhere."""

    kind: ChangeKind
    where: Where | None = None

    def matches(self, change: ListChange) -> bool:
        """Tell whether the change is one of these."""
        if change.kind is not self.kind:
            return False
        if self.where is None:
            return True
        return change.environment == self.where.environment and lies_within(change.path, self.where.path)


@dataclass(frozen=True, slots=True)
class Ping:
    """The stream is alive."""


@dataclass(frozen=True, slots=True)
class Happened:
    """These lists changed, the oldest change first; `at` is when it is told."""

    changes: tuple[ListChange, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more comes, and why."""

    message: str


class EventStream:
    """What one reader is told. Fed by `offer` and `end` on the event loop, read by `items`, once.

    Args:
        access: of the reader to the project, as it was just checked.
        registrations: what was asked for.
        ends_at: when the reader's token ends.
        recheck: returns the access as it is by now, or raises what stands against it.
        clock: tells the time.
    """

    def __init__(
        self,
        access: ProjectAccess,
        registrations: Sequence[Registration],
        *,
        ends_at: datetime | None,
        recheck: Callable[[], Awaitable[ProjectAccess]],
        clock: Clock,
    ) -> None:
        self._access = access
        self._registrations = tuple(registrations)
        self._ends_at = ends_at
        self._recheck = recheck
        self._clock = clock
        self._pending: dict[ListChange, None] = {}
        self._ended: Ended | None = None
        self._doubted = False
        self._woken = asyncio.Event()

    @property
    def access(self) -> ProjectAccess:
        """What the reader may do, as last checked."""
        return self._access

    def offer(self, changes: Iterable[ListChange]) -> None:
        """Take over those changes that were asked for and that the reader may know of."""
        if self._ended is not None:
            return
        # Asked of each folder once: many changes share one.
        readable = self._access.permissions.at(Action.READ, Subject.SECRETS)
        for change in changes:
            if self._wants(change) and readable(change.environment, change.path):
                # The last time counts: a secret that was deleted and made again is there.
                self._pending.pop(change, None)
                self._pending[change] = None
        if len(self._pending) > PENDING_MAX:
            self.end(_TOO_SLOW)
        elif self._pending:
            self._woken.set()

    def end(self, message: str) -> None:
        """Have the stream end at once; what still waits in it is dropped, for the reader reads anew."""
        if self._ended is None:
            self._ended = Ended(message)
            self._pending.clear()
            self._woken.set()

    def doubt(self) -> None:
        """Have the permission rechecked now."""
        self._doubted = True
        self._woken.set()

    async def items(self) -> AsyncIterator[Ping | Happened | Ended]:
        """Yield what is to be told as it happens; `Ended` is the last."""
        checked_at = self._clock.monotonic()
        while True:
            yield Ping()
            ping_at = self._clock.monotonic() + _PING_EVERY.total_seconds()
            while (now := self._clock.monotonic()) < ping_at:
                if self._doubted or now >= checked_at + _RECHECK_EVERY.total_seconds():
                    checked_at = now
                    await self._check()
                    continue  # what came meanwhile may be in doubt as well
                if self._ended is not None:
                    yield self._ended
                    return
                if self._pending:
                    changes, self._pending = tuple(self._pending), {}
                    yield Happened(changes, self._clock.now())
                    continue
                await self._sleep_until(min(ping_at, checked_at + _RECHECK_EVERY.total_seconds()))

    async def _check(self) -> None:
        self._doubted = False
        try:
            access = await self._recheck()
        except DomainError:
            self.end(REFUSED)
            return
        except Exception as error:  # noqa: BLE001 - who can't be rechecked, for whatever reason, is told nothing more
            _log.error("event_permission_not_rechecked", kind=type(error).__name__)
            self.end(REFUSED)
            return
        if access.permissions != self._access.permissions:
            self.end(_OTHER)  # other folders may be readable now, and with them other imports
        self._access = access

    async def _sleep_until(self, instant: float) -> None:
        """Sleep until woken, or until the instant in monotonic seconds; no longer than the token lasts."""
        seconds = instant - self._clock.monotonic()
        left = None if self._ends_at is None else (self._ends_at - self._clock.now()).total_seconds()
        if left is not None and left <= 0:
            self.end(_EXPIRED)
            return
        self._woken.clear()
        try:
            async with asyncio.timeout(seconds if left is None else min(seconds, left)):
                await self._woken.wait()
        except TimeoutError:
            return

    def _wants(self, change: ListChange) -> bool:
        if change.owner not in ("", self._access.principal.identity_id):
            return False
        return any(registration.matches(change) for registration in self._registrations)
