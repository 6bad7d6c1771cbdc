"""Rotation of keys on a live service.

A *root key* is rotated by putting a new one in front of the old one where the service finds it. Each process reads
that place again every few seconds and tells the others, by the database, which root keys it holds. As soon as every
process holds the new one it wraps, and what the old one wrapped is wrapped anew, a few keys in one transaction; then
the old one is retired, and its line may be removed. Until then every process can open everything.

A project's *data key* is rotated by making the next one: what is written from then on is sealed with it, what is
there is sealed anew in the background, and the former one is deleted when nothing needs it. The key that seals the
credentials of auth methods and app connections is no project's, and is rotated in the same way when those of all
projects are.

What is to be done, and how far it came, stands in the database: whoever starts after a crash goes on with it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.base.errors import ConfigurationError, KeybearerError
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.base.logs import get_logger
from keybearer.domain.access import ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject, require_organization
from keybearer.domain.errors import InvalidError
from keybearer.domain.key_status import KeyStatus
from keybearer.domain.server_keys import RootKeySource, given_root_keys
from keybearer.store.audit import AuditActor
from keybearer.store.database import Database
from keybearer.store.root_keys import RootKeyState
from keybearer.store.sealing.envelope import SealingKey, UnsealError, key_id_of
from keybearer.store.sealing.root_key import add_root_key
from keybearer.store.unit import UnitOfWork

__all__ = ["AT_THE_DATA_DIRECTORY", "KeyRotation"]

_BY_ITSELF = AuditActor(kind="machine", id=None, name="keybearer serve", organization_id=None)
AT_THE_DATA_DIRECTORY = AuditActor(kind="machine", id=None, name="keybearer keys", organization_id=None)
"""Whoever may write to the data directory, whom nobody asked for a token."""

_ROUND = timedelta(seconds=5)
_SAID = timedelta(seconds=15)
"""Beside other processes, this one says so often what it holds."""
_SILENT = timedelta(seconds=60)
"""A process that said nothing for so long is taken for gone."""
_WRAPPED_AT_ONCE = 100
_SEALED_AT_ONCE = 100
"""Values in one transaction; other writers of the project wait for it. With their details 13 MiB at most."""
_MARKED_AT_ONCE = 2000
"""Secrets that are brought under marks in one transaction: about 30 ms."""
_ASIDE = Backoff(timedelta(seconds=30), timedelta(hours=1))
_RNG = random.Random()  # noqa: S311 - spreads attempts, guards nothing
_log = get_logger(__name__)


class KeyRotation:
    """Rotates keys: by itself where a new root key appears, data keys when somebody asks."""

    def __init__(self, database: Database, source: RootKeySource | None, clock: Clock) -> None:
        self._database = database
        self._source = source
        self._clock = clock
        self._process_id = new_uuid()
        self._woken = asyncio.Event()
        self._told: str | None = None
        self._earlier = 0
        self._said: tuple[tuple[str, ...], float] | None = None
        # For each project in which something doesn't open: failures in a row, and when to try again.
        self._set_aside: dict[ProjectId, tuple[int, datetime]] = {}

    async def start(self) -> None:
        """Take part, and do what is to be done about root keys at once: nobody waits for this process yet."""
        await self._take_part()
        await self._rewrap_all()

    async def run(self) -> None:
        """Do what is to be done, and look for more every few seconds, until cancelled."""
        while True:
            try:
                await self._take_part()
                await self._advance()
            except KeybearerError as error:
                # Busy, away, or a key that isn't there: the next round may find it otherwise.
                _log.warning("key_rotation_waits", kind=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - what nobody foresaw must not end the rounds for ever
                _log.error("key_rotation_failed", kind=type(error).__name__)
            try:
                async with asyncio.timeout(_ROUND.total_seconds()):
                    await self._woken.wait()
            except TimeoutError:
                continue
            finally:
                self._woken.clear()

    async def close(self) -> None:
        """Take part no longer; where the database is away, the others find out by themselves."""
        try:
            async with self._database.writing() as unit:
                await unit.root_keys.leave(self._process_id)
        except KeybearerError as error:
            _log.warning("key_rotation_not_left", kind=type(error).__name__)

    async def finish(self) -> None:
        """Do all that is to be done.

        Raises:
            UnsealError: something in a project doesn't open; the others are done.
        """
        self._set_aside.clear()
        await self._rewrap_all()
        # A project whose data key is being rotated can't be converted, so rotations go first.
        failed = [*await self._reseal_all(), *await self._take_under_marks(), *await self._reseal_all()]
        await self._reseal_credentials()
        if failed:
            raise failed[0]

    async def _advance(self) -> None:
        async with self._database.reading() as unit:
            is_retiring = RootKeyState.RETIRING in (await unit.root_keys.known()).values()
        if is_retiring:
            await self._rewrap_all()
        await self._take_under_marks()
        await self._reseal_all()
        await self._reseal_credentials()

    async def _take_under_marks(self) -> list[UnsealError]:
        """Bring projects of earlier versions under marks (`seal_conversion`); rotations seal their values anew later.

        That waits while replicas of an earlier version serve, as in a rolling update: what they write would look
        edited. A replica that starts later refuses the database.
        """
        async with self._database.reading() as unit:
            projects = await unit.seal_conversion.projects()
            earlier = await unit.root_keys.processes_without_marks() if projects else 0
        if earlier != self._earlier:
            self._earlier = earlier
            if earlier:
                _log.info("marks_wait_for_earlier_processes", processes=earlier)
        if earlier:
            return []

        async def step(unit: UnitOfWork, project_id: ProjectId) -> bool:
            return await unit.seal_conversion.advance(project_id, _MARKED_AT_ONCE)

        return await self._each(projects, step, "project_taken_under_marks")

    async def _reseal_all(self) -> list[UnsealError]:
        async with self._database.reading() as unit:
            projects = [rotation.project_id for rotation in await unit.resealing.under_way()]

        async def step(unit: UnitOfWork, project_id: ProjectId) -> bool:
            return await unit.resealing.advance(project_id, _SEALED_AT_ONCE)

        return await self._each(projects, step, "data_key_rotated")

    async def _each(
        self,
        projects: Iterable[ProjectId],
        step: Callable[[UnitOfWork, ProjectId], Awaitable[bool]],
        done: str,
    ) -> list[UnsealError]:
        """Take all steps in each project, and return the errors of those that failed.

        A project in which something doesn't open delays no other one. It is tried again after a while, because
        somebody may have restored what was edited.
        """
        failed: list[UnsealError] = []
        for project_id in projects:
            failures, until = self._set_aside.get(project_id, (0, self._clock.now()))
            if self._clock.now() < until:
                continue
            try:
                more = True
                while more:
                    async with self._database.writing() as unit:
                        more = await step(unit, project_id)
            except UnsealError as error:
                wait = _ASIDE.delay(failures + 1, _RNG)
                self._set_aside[project_id] = (failures + 1, self._clock.now() + wait)
                failed.append(error)
                # The text names only ids, so it can be logged.
                _log.error(
                    "data_key_rotation_stopped",
                    project_id=project_id,
                    reason=str(error),
                    next_try_seconds=round(wait.total_seconds()),
                )
                continue
            self._set_aside.pop(project_id, None)
            _log.info(done, project_id=project_id)
        return failed

    async def _reseal_credentials(self) -> None:
        async with self._database.reading() as unit:
            if await unit.credential_resealing.under_way() is None:
                return
        done = 1
        while done:
            async with self._database.writing() as unit:
                done = await unit.credential_resealing.advance(_SEALED_AT_ONCE)
        async with self._database.writing() as unit:
            is_over = await unit.credential_resealing.finish()
        if is_over:  # else somebody was just changing one: the next round finds it
            _log.info("credential_key_rotated")

    async def status(self, principal: Principal) -> KeyStatus:
        """Return how keys stand.

        Raises:
            ForbiddenError: the principal is no admin of the organization.
        """
        require_organization(principal, Action.READ, Subject.ENCRYPTION_KEYS)
        return await self.stands()

    async def rotate_root(self, principal: Principal) -> str:
        """Have the root key that stands first wrap from now on, and return its id.

        A service that keeps its root key itself makes a new one if there is none in waiting.

        Raises:
            ForbiddenError: the principal is no admin of the organization.
            InvalidError: there is no new root key, or a process doesn't hold it yet; nothing was changed.
        """
        require_organization(principal, Action.EDIT, Subject.ENCRYPTION_KEYS)
        return await self.begin_root(principal)

    async def rotate_data(self, principal: Principal, project_id: str | None) -> list[ProjectId]:
        """Begin to rotate the data key of a project, or of all and of auth methods, and return which projects.

        Raises:
            ForbiddenError: the principal is no admin of the organization.
            NotFoundError: the organization has no such project.
        """
        require_organization(principal, Action.EDIT, Subject.ENCRYPTION_KEYS)
        if project_id is not None:
            async with self._database.reading() as unit:
                await open_project(unit, principal, ProjectRef(id=project_id))
        return await self.begin_data(principal, project_id)

    async def stands(self) -> KeyStatus:
        """Return how keys stand, to who was let in already."""
        roots = self._database.keyring.roots
        async with self._database.reading() as unit:
            return KeyStatus(
                first=_id_of(roots.first),
                held=tuple(_id_of(root) for root in roots.all),
                roots=tuple(await unit.root_keys.records()),
                processes=await unit.root_keys.processes(),
                lacking=await unit.root_keys.processes(lacking=roots.first.name),
                data_keys=await unit.resealing.data_keys(),
                rotations=tuple(await unit.resealing.under_way()),
                credentials=await unit.credential_resealing.under_way(),
            )

    async def begin_root(self, by: Principal | AuditActor) -> str:
        """Do what `rotate_root` does, for who was let in already; `run` or `finish` do the rest.

        Raises:
            InvalidError: there is no new root key, or a process doesn't hold it yet; nothing was changed.
        """
        await self._reload()
        root = await self._new_root()
        async with self._database.writing() as unit:
            await self._hold(unit)
            await self._activate(unit, root, by)
        self._woken.set()
        return _id_of(root)

    async def begin_data(self, by: Principal | AuditActor, project_id: str | None) -> list[ProjectId]:
        """Do what `rotate_data` does, for who was let in already; `run` or `finish` do the rest."""
        wanted = [ProjectId(project_id)] if project_id is not None else []
        if project_id is None:
            async with self._database.reading() as unit:
                wanted = await unit.resealing.projects()
        begun = []
        for project in wanted:
            # A unit each, so that no writer waits for more than one.
            async with self._database.writing() as unit:
                if await unit.resealing.begin(project):
                    await unit.audit(audited(by, EventType.ROTATE_DATA_KEY, project))
                    begun.append(project)
                    self._set_aside.pop(project, None)
        if project_id is None:
            async with self._database.writing() as unit:
                await unit.credential_resealing.begin()
                await unit.audit(audited(by, EventType.ROTATE_DATA_KEY, keyOf="auth methods"))
        self._woken.set()
        return begun

    async def _take_part(self) -> None:
        """Read the root keys again, tell the others, and let a new first one wrap if all hold it."""
        await self._reload()
        roots = self._database.keyring.roots
        root, held = roots.first, tuple(_id_of(root) for root in roots.all)
        async with self._database.reading() as unit:
            is_new = _id_of(root) not in await unit.root_keys.known()
        if not is_new and self._is_said(held):
            return
        async with self._database.writing() as unit:
            await self._hold(unit)
            if _id_of(root) in await unit.root_keys.known():
                return
            lacking = await unit.root_keys.processes(lacking=root.name)
            if lacking == 0:
                await self._activate(unit, root, _BY_ITSELF)
        if lacking and self._told != _id_of(root):
            self._told = _id_of(root)
            _log.info("root_key_waits_for_other_processes", key_id=_id_of(root), processes=lacking)

    def _is_said(self, held: tuple[str, ...]) -> bool:
        """Return whether the others know well enough what this process holds."""
        if self._said is None or self._said[0] != held:
            return False
        return self._database.sole_process or self._clock.monotonic() < self._said[1]

    async def _hold(self, unit: UnitOfWork) -> None:
        now = self._clock.now()
        await unit.root_keys.queue()
        if self._database.sole_process:
            await unit.root_keys.forget_holders()
        else:
            await unit.root_keys.forget_holders(before=now - _SILENT)
        roots = self._database.keyring.roots.all
        await unit.root_keys.hold(self._process_id, roots, now)
        again = self._clock.monotonic() + _SAID.total_seconds()
        self._said = (tuple(_id_of(root) for root in roots), again)

    async def _activate(self, unit: UnitOfWork, root: SealingKey, by: Principal | AuditActor) -> None:
        known = await unit.root_keys.known()
        if _id_of(root) in known:
            raise InvalidError(
                f"There is no new root key: the one that stands first, {_id_of(root)}, is or was in use; "
                "put a new one in front of it wherever a process finds its root key"
            )
        lacking = await unit.root_keys.processes(lacking=root.name)
        if lacking:
            raise InvalidError(
                f"{lacking} of {await unit.root_keys.processes()} processes don't hold root key {_id_of(root)} yet; "
                f"give it to all of them, or wait {_SILENT.seconds} s for those that are gone"
            )
        await unit.root_keys.activate(root)
        await unit.audit(audited(by, EventType.ROTATE_ROOT_KEY, keyId=_id_of(root)))
        _log.info("root_key_activated", key_id=_id_of(root))

    async def _new_root(self) -> SealingKey:
        roots, source = self._database.keyring.roots, self._source
        async with self._database.reading() as unit:
            is_new = _id_of(roots.first) not in await unit.root_keys.known()
        if is_new or source is None or not source.is_kept_here or not self._database.sole_process:
            return roots.first
        made = await asyncio.to_thread(add_root_key, source.file)
        self._database.keyring.take(made)
        return made.first

    async def _reload(self) -> None:
        if self._source is None:
            return
        try:
            given = await asyncio.to_thread(given_root_keys, self._source)
        except ConfigurationError as error:
            # Half a file, or one that others can read: what is held stays good.
            _log.warning("root_keys_not_read", reason=str(error))
            return
        if given is not None:
            self._database.keyring.take(given)

    async def _rewrap_all(self) -> None:
        total = 0
        while True:
            async with self._database.writing() as unit:
                done = await unit.root_keys.rewrap(_WRAPPED_AT_ONCE)
            total += done
            if done == 0:
                break
        if total:
            _log.info("rewrapped_keys", count=total)


def _id_of(root: SealingKey) -> str:
    return str(key_id_of(root.name))
