"""Moving secrets to another folder of their project, and copying them (wire.md section 2.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, FolderPath, new_uuid
from keybearer.base.runs import in_runs
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.secrets.carried import require_readable_stored, require_readable_targets
from keybearer.domain.secrets.folder_lookup import folder_at
from keybearer.domain.secrets.naming import Naming, names_of
from keybearer.domain.secrets.questions import SecretsAt, ShownSecret
from keybearer.domain.secrets.stored_references import follow_secret, store_references
from keybearer.store.database import Database
from keybearer.store.records import Folder, Secret
from keybearer.store.secret_places import Location
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.unit import UnitOfWork

__all__ = ["SecretMoving", "Transfer"]

_RUN_MAX = 100
_RUN_CHARACTERS = 4 * 1024 * 1024
"""Secrets, and characters of their values, that are sealed between two turns of others."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Which secrets of a folder go to which other one of the same project."""

    project: ProjectRef
    source: Where
    destination: Where
    secret_ids: tuple[str, ...]
    overwrite: bool


@dataclass(frozen=True, slots=True)
class _Opened:
    """A transfer that is allowed: its secrets, and those that stand in their places."""

    access: ProjectAccess
    source: Folder
    destination: Folder
    secrets: Sequence[Secret]
    present: dict[str, Secret]


class SecretMoving:
    """Decides about secrets that change their folder."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def move(self, principal: Principal, transfer: Transfer) -> None:
        """Put the secrets into the other folder, with their ids and versions.

        References of the project follow them; their own texts stay as they are written. One that takes the
        place of another becomes that one's next version.

        Raises:
            NotFoundError: no such project, folder or secret.
            ForbiddenError: the principal may not take them there, or not put them here, or may not read what their
                texts lead to.
            InvalidError: both folders are the same, a key is taken and nothing may be overwritten, or the secrets
                hold too much.
        """
        async with self._database.writing() as unit:
            opened = await self._open(unit, principal, transfer, (Action.READ_VALUE, Action.DELETE))
            if opened.source.id == opened.destination.id:
                raise InvalidError("Source and destination are the same folder")
            now = self._clock.now()
            moved, replaced = [], []
            for secret in opened.secrets:
                taken = opened.present.get(secret.key)
                if taken is None:
                    new = replace(
                        _placed(secret, opened, transfer), version=secret.version + 1, updated_at=now
                    )
                else:
                    new = replace(_over(taken, secret), updated_at=now)
                    replaced.append(secret)
                moved.append((secret, new))
            # All have moved before any text follows: what moves along names them as before.
            over = {new.id for old, new in moved if old.id != new.id}
            # Names keep what they mean, but for those of the folder itself.
            await require_readable_stored(unit, opened.access, opened.secrets)
            names = await names_of([new for _, new in moved])
            await require_readable_targets(unit, opened.access, names)
            for run in _runs(names):
                await unit.secrets.update(opened.access.project.id, [secret for secret, _ in run])
                await store_references(unit, opened.access, run, rewritten=over)
            for old, new in moved:
                if old.id == new.id:
                    await unit.secrets.move_overrides(old, new)
                await follow_secret(unit, opened.access, old, new, now)
            await unit.secrets.delete(secret.id for secret in replaced)
            await unit.folders.mark_modified([opened.source.id], now)
            await _audit(unit, EventType.MOVE_SECRETS, opened, transfer)

    async def duplicate(self, principal: Principal, transfer: Transfer) -> Sequence[ShownSecret]:
        """Put copies of the secrets into the other folder, each with its first version.

        Raises:
            NotFoundError: no such project, folder or secret.
            ForbiddenError: the principal may not read them there, or what their texts lead to, or not put them here.
            InvalidError: a key is taken and nothing may be overwritten, or the secrets hold too much.
        """
        async with self._database.writing() as unit:
            opened = await self._open(unit, principal, transfer, (Action.READ_VALUE,))
            now = self._clock.now()
            fresh, over = [], []
            for secret in opened.secrets:
                taken = opened.present.get(secret.key)
                if taken is None:
                    copy = _placed(secret, opened, transfer)
                    fresh.append(replace(copy, id=new_uuid(), version=1, created_at=now, updated_at=now))
                else:
                    over.append(replace(_over(taken, secret), updated_at=now))
            project_id = opened.access.project.id
            fresh_names, over_names = await names_of(fresh), await names_of(over)
            await require_readable_targets(unit, opened.access, [*fresh_names, *over_names])
            for store, names in ((unit.secrets.insert, fresh_names), (unit.secrets.update, over_names)):
                for run in _runs(names):
                    secrets = [secret for secret, _ in run]
                    await store(project_id, secrets)
                    await store_references(unit, opened.access, run, rewritten={one.id for one in secrets})
            await _audit(unit, EventType.DUPLICATE_SECRETS, opened, transfer)
            return [ShownSecret(secret, secret.value or "") for secret in [*fresh, *over]]

    async def _open(
        self, unit: UnitOfWork, principal: Principal, transfer: Transfer, taking: Sequence[Action]
    ) -> _Opened:
        access = await open_project(unit, principal, transfer.project)
        for action in (Action.READ, *taking):
            access.require(action, Subject.SECRETS, transfer.source)
        access.require(Action.CREATE, Subject.SECRETS, transfer.destination)
        if transfer.overwrite:
            access.require(Action.EDIT, Subject.SECRETS, transfer.destination)
        await unit.move_project(access.project.id)
        source = await _folder(unit, access, transfer, transfer.source)
        destination = await _folder(unit, access, transfer, transfer.destination)
        wanted = list(dict.fromkeys(transfer.secret_ids))
        try:
            found = await unit.secrets.by_ids(wanted, max_bytes=LISTED_MAX_BYTES)
        except TooLargeError as error:
            raise _too_much(transfer.source) from error
        found = [secret for secret in found if secret.folder_id == source.id and not secret.owner]
        if len(found) < len(wanted):
            raise NotFoundError(f"Secret not found. Found {len(found)} of {len(wanted)} secrets")
        environment, path = EnvironmentSlug(transfer.destination.environment), destination.path
        places = [Location(environment, path, secret.key) for secret in found]
        try:
            # Their values are replaced, and need not be known.
            taken = await unit.secrets.at(
                access.project.id, places, with_values=False, max_bytes=LISTED_MAX_BYTES
            )
        except TooLargeError as error:
            raise _too_much(transfer.destination) from error
        present = {secret.key: secret for secret in taken}
        if present and not transfer.overwrite:
            raise InvalidError(
                f"Secret '{min(present)}' already exists in '{path}' of environment '{environment}'; "
                "send shouldOverwrite to replace it"
            )
        return _Opened(access, source, destination, found, present)


def _too_much(where: Where) -> InvalidError:
    return InvalidError(
        f"The secrets in '{where.path}' hold more than {LISTED_MAX_BYTES >> 20} MiB; name fewer at a time"
    )


def _runs(names: Sequence[Naming]) -> Iterator[list[Naming]]:
    """Part the secrets into runs that keep others waiting for but a moment each."""
    return in_runs(
        names,
        lambda one: len(one[0].value or ""),
        count_max=_RUN_MAX,
        weight_max=_RUN_CHARACTERS,
    )


def _placed(secret: Secret, opened: _Opened, transfer: Transfer) -> Secret:
    return replace(
        secret,
        folder_id=opened.destination.id,
        environment=EnvironmentSlug(transfer.destination.environment),
        path=opened.destination.path,
    )


def _over(taken: Secret, secret: Secret) -> Secret:
    """Return the next version of a secret, with what another one holds."""
    return replace(
        taken,
        version=taken.version + 1,
        value=secret.value,
        details=secret.details,
        skip_multiline_encoding=secret.skip_multiline_encoding,
        tags=secret.tags,
    )


async def _folder(unit: UnitOfWork, access: ProjectAccess, transfer: Transfer, where: Where) -> Folder:
    at = SecretsAt(transfer.project, EnvironmentSlug(where.environment), FolderPath(where.path))
    return await folder_at(unit, access, at, name="NotFound")


async def _audit(unit: UnitOfWork, event: EventType, opened: _Opened, transfer: Transfer) -> None:
    await unit.audit(
        audited(
            opened.access.principal,
            event,
            opened.access.project.id,
            sourceEnvironment=transfer.source.environment,
            sourceSecretPath=transfer.source.path,
            destinationEnvironment=transfer.destination.environment,
            destinationSecretPath=transfer.destination.path,
            secretKeys=[secret.key for secret in opened.secrets],
        )
    )
