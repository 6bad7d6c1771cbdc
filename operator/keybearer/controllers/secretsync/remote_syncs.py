"""The syncs of the service, as one identity sees them, and how often they are looked at."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeVar
from weakref import WeakValueDictionary

from keybearer.base.clock import Clock
from keybearer.client import AsyncKeybearer, NotFound, SecretSync
from keybearer.controllers.annotations import SYNC, how_to_ask
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.resource_fields import told_instant
from keybearer.controllers.secretsync.destination_names import BUSY, PlacedName, PlacedNames
from keybearer.controllers.secretsync.destination_plan import DesiredSync, PresentSync
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.status import RemoteSyncStatus
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.work import WorkKey

__all__ = [
    "REFRESH",
    "ImportBehavior",
    "RemoteSyncs",
    "SyncBoard",
    "SyncWatch",
    "is_busy",
    "mirrored",
    "present_of",
]

_T = TypeVar("_T")
ImportBehavior = Literal["prioritize-source", "prioritize-destination"]
_BOARDS_MAX = 256
_NAME_MAX = 512
"""What lists of names in a status take."""
REFRESH = timedelta(minutes=5)
"""Between two looks at a sync at rest: what others do with it in the service."""
_SOON = timedelta(milliseconds=300)
"""Between two looks at a run that is under way."""
_LATER = timedelta(seconds=2)
_SOON_FOR_SECONDS = 30.0
_IN_PROGRESS = "already in progress"
"""In what the service answers while a job of the sync runs (wire.md)."""
_AGAIN_SECONDS = REFRESH.total_seconds()
_AGAIN_MAX_SECONDS = 3600.0
"""Between pushes that fail for a reason that no attempt mends: each time twice as long, up to this."""


class RemoteSyncs:
    """Finds, changes and runs syncs through a session."""

    def __init__(self, session: ServiceSession) -> None:
        self._session = session

    @property
    def session(self) -> ServiceSession:
        """The session."""
        return self._session

    async def find(
        self, destination: str, name: str, project_id: str, known: RemoteSyncStatus | None
    ) -> SecretSync | None:
        """Return the sync that the status knows, where it is there still, else the one of the name, or None.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        if known is not None and known.id is not None:
            # Of the destination that it was made for, which the manifest may name no more.
            found = await self.get(known.destination or destination, known.id)
            if found is not None:
                return found
        return await self._known(
            lambda client: client.secret_syncs.get_by_name(
                name, destination=destination, project_id=project_id
            )
        )

    async def get(self, destination: str, sync_id: str) -> SecretSync | None:
        """Return the sync of the id, or None.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        return await self._known(lambda client: client.secret_syncs.get(sync_id, destination=destination))

    async def create(self, desired: DesiredSync) -> SecretSync:
        """Create a sync.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        return await self._perform(
            lambda client: client.secret_syncs.create(
                desired.name,
                destination=desired.destination,
                project_id=desired.project_id,
                connection_id=desired.connection_id,
                environment=desired.environment,
                secret_path=desired.path,
                destination_config=desired.config,
                sync_options=desired.options,
                description=desired.description,
                is_auto_sync_enabled=desired.is_automatic,
            ),
            f"create sync {desired.name}",
        )

    async def update(self, sync_id: str, desired: DesiredSync) -> SecretSync:
        """Give a sync the whole of its definition.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        return await self._perform(
            lambda client: client.secret_syncs.update(
                sync_id,
                destination=desired.destination,
                name=desired.name,
                description=desired.description,
                connection_id=desired.connection_id,
                environment=desired.environment,
                secret_path=desired.path,
                is_auto_sync_enabled=desired.is_automatic,
                sync_options=desired.options,
                destination_config=desired.config,
            ),
            f"change sync {desired.name}",
        )

    async def quiet(self, sync: SecretSync) -> SecretSync:
        """Have the service push nothing by itself any more.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        return await self._perform(
            lambda client: client.secret_syncs.update(
                sync.id, destination=sync.destination, is_auto_sync_enabled=False
            ),
            f"change sync {sync.name}",
        )

    async def names(self, sync: SecretSync) -> PlacedNames | None:
        """Return what the service tells of each name at the destination; None where it tells no names.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        try:
            listed = await self._session.perform(
                lambda client: client.secret_syncs.list_secrets(sync.id, destination=sync.destination),
                f"list the names of sync {sync.name}",
            )
        except NotFound:
            return None
        return PlacedNames(
            tuple(PlacedName(one.name[:_NAME_MAX], one.secret_key, one.state, one.message) for one in listed)
        )

    async def push(self, sync: SecretSync, *, remove_foreign: bool = False) -> SecretSync:
        """Have the service push, and remove this once what others have there, where that is asked for.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        return await self._perform(
            lambda client: client.secret_syncs.sync(
                sync.id, destination=sync.destination, remove_foreign=remove_foreign
            ),
            f"run sync {sync.name}",
        )

    async def take_in(self, sync: SecretSync, behavior: ImportBehavior) -> SecretSync:
        """Have the service import what the destination holds.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        try:
            return await self._perform(
                lambda client: client.secret_syncs.import_secrets(
                    sync.id, destination=sync.destination, behavior=behavior
                ),
                f"import by sync {sync.name}",
            )
        except StalledError as error:
            if error.reason != Reason.SYNC_REFUSED:
                raise
            message = (
                f"{error.message}; nothing is pushed while the import is asked for; push without it with "
                f"{how_to_ask(SYNC)}"
            )
            raise StalledError(Reason.SYNC_REFUSED, message, remedy=_WITHOUT_IMPORT) from error

    async def delete(self, sync: SecretSync, *, remove_secrets: bool) -> None:
        """Delete a sync; with its secrets it stays until they are removed.

        Raises:
            ReconcileError: the service refuses, or can't be asked.
        """
        try:
            await self._perform(
                lambda client: client.secret_syncs.delete(
                    sync.id, destination=sync.destination, remove_secrets=remove_secrets
                ),
                f"delete sync {sync.name}",
            )
        except NotFound:
            return

    async def _known(self, act: Callable[[AsyncKeybearer], Awaitable[SecretSync]]) -> SecretSync | None:
        try:
            return await self._session.perform(act, "look up syncs")
        except NotFound:
            return None

    async def _perform(self, act: Callable[[AsyncKeybearer], Awaitable[_T]], what: str) -> _T:
        try:
            return await self._session.perform(act, what)
        except StalledError as error:
            if error.reason == Reason.SERVICE_REFUSED and _IN_PROGRESS in error.message:
                # The job that runs may have begun before the last change: another one is due when it has ended.
                raise WaitingError(Reason.PUSHING, error.message, after=_SOON) from error
            if error.reason == Reason.SERVICE_REFUSED:
                raise StalledError(Reason.SYNC_REFUSED, error.message) from error
            raise


_WITHOUT_IMPORT = Remedy(
    "Change what the message quotes, or push without the import.",
    "{sync}",
    about="annotation keybearer.dev/request",
)


class SyncBoard:
    """The latest look at the syncs of each project: a hundred objects that wait for their runs share one request."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._looks: OrderedDict[tuple[str, str], tuple[float, Mapping[str, SecretSync]]] = OrderedDict()
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def look(
        self, session: ServiceSession, project_id: str, sync_id: str, *, not_before: float
    ) -> SecretSync | None:
        """Return the sync as a look showed it that began at this instant (monotonic seconds) or later.

        Raises:
            NotFound: the project isn't there, or can't be seen.
            ReconcileError: the service refuses, or can't be asked.
        """
        key = session.id, project_id
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:
            kept = self._looks.get(key)
            if kept is None or kept[0] < not_before:
                began = self._clock.monotonic()
                listed = await session.perform(
                    lambda client: client.secret_syncs.list(project_id=project_id), "list syncs"
                )
                kept = self._looks[key] = began, {one.id: one for one in listed}
            self._looks.move_to_end(key)
            while len(self._looks) > _BOARDS_MAX:
                self._looks.popitem(last=False)
            return kept[1].get(sync_id)


def present_of(sync: SecretSync) -> PresentSync:
    """Return what the plan looks at."""
    return PresentSync(
        sync.id, sync.name, sync.destination, sync.project_id, sync.description or None, sync.version
    )


def mirrored(sync: SecretSync) -> RemoteSyncStatus:
    """Return the sync as the status tells of it."""
    return RemoteSyncStatus(
        id=sync.id,
        destination=sync.destination,
        sync_status=sync.sync_status,
        last_sync_job_id=sync.last_sync_job_id,
        last_sync_message=sync.last_sync_message,
        last_synced_at=told_instant(sync.last_synced_at),
        import_status=sync.import_status,
        last_import_job_id=sync.last_import_job_id,
        last_import_message=sync.last_import_message,
        last_imported_at=told_instant(sync.last_imported_at),
        remove_status=sync.remove_status,
        last_remove_job_id=sync.last_remove_job_id,
        last_remove_message=sync.last_remove_message,
        last_removed_at=told_instant(sync.last_removed_at),
    )


@dataclass(frozen=True, slots=True)
class _Failed:
    """A job that failed, and when the next one is due (monotonic seconds)."""

    job_id: str | None
    wait: float
    due_at: float


def is_busy(sync: SecretSync) -> bool:
    """Return whether something of the sync is under way."""
    return not BUSY.isdisjoint({sync.sync_status, sync.import_status, sync.remove_status})


class SyncWatch:
    """Looks that all who wait share; remembers what each object awaits, as long as it does."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._board = SyncBoard(clock)
        self._awaited: dict[WorkKey, tuple[str, float]] = {}
        self._failed: dict[WorkKey, _Failed] = {}

    async def look(
        self, remote: RemoteSyncs, project_id: str, sync_id: str, *, anew: bool = False
    ) -> SecretSync | None:
        """Return the sync as it is now, by a look that others share; None where the project has none of that id.

        Args:
            remote: the service.
            project_id: of the sync.
            sync_id: its id.
            anew: whether the look must begin now: one of a moment ago doesn't know what was just set off.
        """
        now = self._clock.monotonic()
        not_before = now if anew else now - _SOON.total_seconds() / 2
        return await self._board.look(remote.session, project_id, sync_id, not_before=not_before)

    def pause(self, key: WorkKey, sync: SecretSync) -> timedelta:
        """Return when an object looks again: soon while something is under way, less soon once that takes long."""
        if sync.sync_status == "succeeded":
            self._failed.pop(key, None)
        if not is_busy(sync):
            self._awaited.pop(key, None)
            return REFRESH
        now = self._clock.monotonic()
        sync_id, since = self._awaited.get(key, (sync.id, now))
        if sync_id != sync.id:
            since = now
        self._awaited[key] = sync.id, since
        return _SOON if now - since < _SOON_FOR_SECONDS else _LATER

    def is_due_again(self, key: WorkKey, sync: SecretSync) -> bool:
        """Tell whether a failed push is to be set off again; its first failure is seen, and it waits from then on."""
        now = self._clock.monotonic()
        kept = self._failed.get(key)
        if kept is not None and kept.job_id == sync.last_sync_job_id:
            return now >= kept.due_at
        wait = _AGAIN_SECONDS if kept is None else min(2 * kept.wait, _AGAIN_MAX_SECONDS)
        self._failed[key] = _Failed(sync.last_sync_job_id, wait, now + wait)
        return False

    def forget(self, key: WorkKey) -> None:
        """End what an object that is gone awaits."""
        self._awaited.pop(key, None)
        self._failed.pop(key, None)
