"""Deletes a target and creates it anew where Kubernetes refuses the change; the old one can be put back at any time.

Nothing is deleted before a dry run accepted the new object. From before the deletion until the old or the new object
exists there is a backup: whoever works next after a process that died in between is shown it by the watch of targets,
and puts the old object back. Where a quota has no room for a backup, the old object is in memory only, and is lost if
the process dies (decision 0036).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, text_of
from keybearer.base.logs import get_logger
from keybearer.controllers.target.backup import (
    backup_key,
    backup_of,
    foreign_of_backup,
    is_trial,
    original_key,
    restored,
    trial_of,
)
from keybearer.controllers.target.desired import TARGET_RESOURCES
from keybearer.controllers.target.foreign import (
    ForeignMetadata,
    foreign_metadata_of,
    with_foreign_metadata,
)
from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    KubeError,
    LeaseLostError,
    NotFoundError,
)
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import JsonObject, ObjectKey, Resource

__all__ = ["Recreation"]

_log = get_logger(__name__)

_QUOTA_WAITS_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 3.0)
"""Until a quota counts what was deleted: its controller does that within a second, and says nothing when it has."""
_AGAIN_SECONDS = 5.0
_AGAIN_MOST_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class _Left:
    """What is to be settled: a backup in the cluster, or one that only this process has."""

    resource: Resource
    backup: ObjectKey
    held: JsonObject | None = field(default=None, repr=False)
    original: ObjectKey | None = None
    pause: float = _AGAIN_SECONDS


class Recreation:
    """Recreates targets, and puts back what was left deleted."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._under_way: set[tuple[str, ObjectKey]] = set()
        self._refused: set[tuple[str, ObjectKey]] = set()
        self._left: asyncio.Queue[_Left] = asyncio.Queue()

    async def recreate(
        self, resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue], *, uid: str
    ) -> JsonObject:
        """Delete that very object, create it anew with this body, and return its metadata.

        Labels, annotations and ownerReferences that others gave it go with it.

        Raises:
            AlreadyExistsError: somebody else created one meanwhile.
            ConflictError: it is another object, or is gone.
            ForbiddenError, InvalidError: it can't go, or the new one is refused; the old one is there.
            KubeError: any other of its kinds; the old one is there, or is put back as soon as that works.
        """
        old = await self._gateway.get(resource, key)
        meta = mapping_of(old.get("metadata")) if old is not None else {}
        if old is None or meta.get("uid") != uid:
            raise ConflictError(f"recreate {resource.kind} {key}: it is another object, or is gone")
        _require_removable(resource, key, meta)
        foreign = foreign_metadata_of(meta).without(mapping_of(body.get("metadata")))
        body = with_foreign_metadata(body, meta, foreign)
        await self._require_accepted(resource, key, body)
        backup, former = backup_key(key, uid), backup_of(old)
        if (resource.kind, key) in self._refused:
            await self._require_stored(resource, backup, body)
        self._under_way.add((resource.kind, backup))
        is_kept = is_done = False
        try:
            is_kept = await self._back_up(resource, backup, former)
            version = text_of(meta.get("resourceVersion"))
            try:
                await self._gateway.delete(resource, key, uid=uid, resource_version=version)
                answer = await self._create(resource, key, body)
            except (AlreadyExistsError, ConflictError):
                is_done = True  # there is one
                raise
            except (LeaseLostError, asyncio.CancelledError):
                raise
            except KubeError as error:
                if error.status is not None:
                    self._refused.add((resource.kind, key))
                is_done = await self._is_put_back(resource, key, former)
                raise
            is_done = True
            self._refused.discard((resource.kind, key))
            return await self._hand_over(resource, key, answer, foreign)
        finally:
            self._under_way.discard((resource.kind, backup))
            if is_kept:
                self._left.put_nowait(_Left(resource, backup))
            elif not is_done:
                self._left.put_nowait(_Left(resource, backup, former, key))

    def notice(self, kind: str, backup: ObjectKey) -> None:
        """Take in that there is a backup, or a trial: one that nobody works with was left by another process."""
        if (kind, backup) not in self._under_way:
            self._left.put_nowait(_Left(TARGET_RESOURCES[kind], backup))

    async def run(self) -> None:
        """Put back what is missing, and remove backups, until cancelled.

        Raises:
            LeaseLostError: another replica leads.
        """
        loop = asyncio.get_running_loop()
        while True:
            left = await self._left.get()
            if (left.resource.kind, left.backup) in self._under_way:
                continue
            try:
                await self._settle(left)
            except LeaseLostError:
                raise
            except (InvalidError, NotFoundError) as error:
                _log.error("target_backup_given_up", backup=str(left.backup), error=str(error))
            except KubeError as error:
                _log.warning("target_backup_not_settled", backup=str(left.backup), error=str(error))
                pause = min(left.pause * 2, _AGAIN_MOST_SECONDS)
                again = _Left(left.resource, left.backup, left.held, left.original, pause)
                loop.call_later(left.pause, self._left.put_nowait, again)

    async def _settle(self, left: _Left) -> None:
        if left.held is not None and left.original is not None:
            await self._put_back(left.resource, left.original, left.held)
            return
        kept = await self._gateway.get(left.resource, left.backup)
        original = None if kept is None else original_key(kept)
        if kept is None or (original is None and not is_trial(kept)):
            return
        if original is not None:
            await self._put_back(left.resource, original, kept)
        if (left.resource.kind, left.backup) not in self._under_way:
            # A conflict is looked at again: another object may have its name, or it is still there.
            await self._gateway.delete(left.resource, left.backup, uid=_uid_of(kept))

    async def _put_back(self, resource: Resource, key: ObjectKey, kept: JsonObject) -> None:
        if await self._gateway.get(resource, key, metadata_only=True) is not None:
            return
        with suppress(AlreadyExistsError):
            answer = await self._create(resource, key, restored(kept))
            _log.warning("target_put_back", kind=resource.kind, target=str(key))
            await self._hand_over(resource, key, answer, foreign_of_backup(kept))

    async def _hand_over(
        self, resource: Resource, key: ObjectKey, made: JsonObject, foreign: ForeignMetadata
    ) -> JsonObject:
        """Have the labels and annotations of others on what was made recorded as theirs; return it."""
        meta = mapping_of(made.get("metadata"))
        if not foreign:
            return made
        try:
            return await self._gateway.merge_patch(
                resource,
                key,
                {"metadata": {"managedFields": foreign.recorded(meta)}},
                uid=_uid_of(made),
                resource_version=text_of(meta.get("resourceVersion")),
            )
        except LeaseLostError:
            raise
        except KubeError as error:
            # Nothing is lost yet: they are there. But they count as ours, and go with the next change.
            _log.warning(
                "foreign_metadata_not_handed_over", kind=resource.kind, target=str(key), error=str(error)
            )
            return made

    async def _is_put_back(self, resource: Resource, key: ObjectKey, kept: JsonObject) -> bool:
        try:
            await self._put_back(resource, key, kept)
        except KubeError as error:
            # What led here is raised; this is tried again by `run`.
            _log.error("target_not_put_back", kind=resource.kind, target=str(key), error=str(error))
            return False
        return True

    async def _require_accepted(
        self, resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue]
    ) -> None:
        try:
            await self._gateway.create(resource, key, body, dry_run=True)
        except AlreadyExistsError:
            return  # the last thing that a creation fails for: all else was accepted
        except ForbiddenError as error:
            if error.over_quota_by is None or error.over_quota_by > 1:
                raise  # what is deleted makes room for one

    async def _require_stored(
        self, resource: Resource, trial: ObjectKey, body: Mapping[str, JsonValue]
    ) -> None:
        """Let pass what is stored under another name: a dry run has accepted this target before, and it was refused.

        Otherwise each attempt would delete the old one, if only for a moment.
        """
        if await self._is_made(resource, trial, trial_of(body)):
            there = await self._gateway.get(resource, trial, metadata_only=True)
            if there is not None:
                await self._gateway.delete(resource, trial, uid=_uid_of(there))

    async def _back_up(self, resource: Resource, backup: ObjectKey, body: JsonObject) -> bool:
        """Return whether there is a backup now."""
        is_made = await self._is_made(resource, backup, body)
        if not is_made:
            _log.warning("target_backup_skipped", kind=resource.kind, backup=str(backup), reason="quota")
        return is_made

    async def _is_made(self, resource: Resource, key: ObjectKey, body: JsonObject) -> bool:
        """Make an object in place of one that an earlier attempt left; return False where a quota has no room."""
        try:
            try:
                await self._gateway.create(resource, key, body)
            except AlreadyExistsError:
                before = await self._gateway.get(resource, key, metadata_only=True)
                if before is not None:
                    await self._gateway.delete(resource, key, uid=_uid_of(before))
                await self._gateway.create(resource, key, body)
        except ForbiddenError as error:
            if error.over_quota_by is None:
                raise
            return False
        return True

    async def _create(self, resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue]) -> JsonObject:
        for wait in _QUOTA_WAITS_SECONDS:
            try:
                return await self._gateway.create(resource, key, body)
            except ForbiddenError as error:
                if error.over_quota_by is None:
                    raise
            await asyncio.sleep(wait)
        return await self._gateway.create(resource, key, body)


def _uid_of(body: JsonObject) -> str:
    return text_of(mapping_of(body.get("metadata")).get("uid"))


def _require_removable(resource: Resource, key: ObjectKey, meta: Mapping[str, JsonValue]) -> None:
    names = ", ".join(map(str, list_of(meta.get("finalizers"))))
    if names:
        raise InvalidError(
            f"recreate {resource.kind} {key}: metadata.finalizers holds it ({names}); remove them, or choose another "
            "name for the target",
            status=None,
            reason="Finalizers",
        )
