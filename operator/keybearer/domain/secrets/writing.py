"""Writing secrets: create, update, delete, alone or many at once (wire.md sections 2.4 and 2.5).

Every operation is one transaction: one bad item, and nothing happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from keybearer.base.clock import Clock
from keybearer.base.ids import new_uuid
from keybearer.domain.access import ProjectAccess, open_project
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.secrets.auditing import CREATED, DELETED, UPDATED, audit_secrets
from keybearer.domain.secrets.carried import require_readable_stored, require_readable_targets
from keybearer.domain.secrets.changes import (
    ChangedSecret,
    NewSecret,
    OnMissing,
    Run,
    changed_secret,
    require_new_name,
    runs_of,
    secret_of_change,
)
from keybearer.domain.secrets.folder_lookup import folder_at
from keybearer.domain.secrets.naming import names_of
from keybearer.domain.secrets.personal import writing_owner
from keybearer.domain.secrets.questions import SecretsAt, ShownSecret
from keybearer.domain.secrets.stored_references import follow_secret, store_references
from keybearer.domain.secrets.text import checked_name, checked_new_name, checked_value
from keybearer.store.database import Database
from keybearer.store.records import Secret, SecretDetails
from keybearer.store.secret_places import Location
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.tags import Tag
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import HIDDEN_VALUE

__all__ = ["SecretWriting"]


class SecretWriting:
    """Decides about changes of secrets."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(
        self, principal: Principal, at: SecretsAt, new: Sequence[NewSecret], *, personal: bool = False
    ) -> list[ShownSecret]:
        """Store new secrets in a folder.

        Raises:
            NotFoundError: no such project, environment, folder or tag.
            ForbiddenError: the principal may not.
            InvalidError: a key exists already, or stands twice in the request.
            SchemaViolationError: a name or value has a form that is not allowed.
        """
        async with self._database.writing() as unit:
            access = await self._open(unit, principal, at, Action.CREATE)
            owner = writing_owner(principal, "create", personal=personal)
            created = await self._create(unit, access, at, new, owner)
            await audit_secrets(unit, access, CREATED, created)
            return [ShownSecret(secret, secret.value or "") for secret in created]

    async def update(
        self,
        principal: Principal,
        at: SecretsAt,
        changes: Sequence[ChangedSecret],
        *,
        personal: bool = False,
        on_missing: OnMissing = OnMissing.FAIL,
    ) -> list[ShownSecret]:
        """Store new versions of secrets; each answer shows the value that was given, empty for none.

        Raises:
            NotFoundError: no such project, folder, secret or tag.
            ForbiddenError: the principal may not.
            InvalidError: a new name is taken or empty, or a value is the mask of a hidden one.
            SchemaViolationError: a name or value has a form that is not allowed.
        """
        async with self._database.writing() as unit:
            access = await self._open(
                unit, principal, at, Action.EDIT, {change.at or at for change in changes}
            )
            owner = writing_owner(principal, "update", personal=personal)
            shown: list[ShownSecret] = []
            for run in runs_of([(change.at or at, change) for change in changes]):
                shown += await self._update(unit, access, run, owner, on_missing)
            await audit_secrets(unit, access, UPDATED, [one.secret for one in shown])
            return shown

    async def take_in(
        self, unit: UnitOfWork, access: ProjectAccess, at: SecretsAt, values: Mapping[str, str]
    ) -> None:
        """Store what a secret sync imports within a unit that is under way: new secrets, and new values of others.

        They are literal: whoever writes at the destination doesn't get to read here by a reference.

        Raises:
            NotFoundError: the folder is gone.
            InvalidError: a value is the mask of a hidden one.
            SchemaViolationError: a name or value has a form that is not allowed.
        """
        changes = [
            (at, ChangedSecret(_key(access, key, field="secretName"), value, is_literal=True))
            for key, value in values.items()
        ]
        shown: list[ShownSecret] = []
        for run in runs_of(changes):
            shown += await self._update(unit, access, run, "", OnMissing.UPSERT)
        await audit_secrets(unit, access, UPDATED, [one.secret for one in shown])

    async def delete(
        self, principal: Principal, at: SecretsAt, keys: Sequence[str], *, personal: bool = False
    ) -> list[ShownSecret]:
        """Remove secrets of a folder with all their versions, and return what they were.

        Raises:
            NotFoundError: no such project, folder or secret.
            ForbiddenError: the principal may not.
        """
        async with self._database.writing() as unit:
            access = await self._open(unit, principal, at, Action.DELETE)
            owner = writing_owner(principal, "delete", personal=personal)
            folder = await folder_at(unit, access, at, name="DeleteSecret")
            wanted = list(dict.fromkeys(keys))
            try:
                found = await unit.secrets.at(
                    access.project.id, _locations(at, wanted), max_bytes=LISTED_MAX_BYTES, owner=owner
                )
            except TooLargeError as error:
                raise InvalidError("The secrets hold too much to be shown at once; delete fewer") from error
            if len(found) < len(wanted):
                raise NotFoundError("Secret not found")
            await unit.secrets.delete(secret.id for secret in found)
            await unit.folders.mark_modified([folder.id], self._clock.now())
            await audit_secrets(unit, access, DELETED, found)
            if not access.allows(Action.READ_VALUE, Subject.SECRETS, Where(at.environment, at.path)):
                return [
                    ShownSecret(_as_readable(access, secret), HIDDEN_VALUE, hidden=True) for secret in found
                ]
            return [ShownSecret(secret, secret.value or "") for secret in found]

    async def _open(
        self,
        unit: UnitOfWork,
        principal: Principal,
        at: SecretsAt,
        action: Action,
        places: Iterable[SecretsAt] = (),
    ) -> ProjectAccess:
        """Return the project in which it is allowed at these places, at the request's own without."""
        access = await open_project(unit, principal, at.project)
        for place in places or (at,):
            access.require(action, Subject.SECRETS, Where(place.environment, place.path))
        await unit.move_project(access.project.id)
        return access

    async def _create(
        self, unit: UnitOfWork, access: ProjectAccess, at: SecretsAt, new: Sequence[NewSecret], owner: str
    ) -> list[Secret]:
        folder = await folder_at(unit, access, at, name="CreateSecret")
        now = self._clock.now()
        tags = await _tags(unit, access, {tag_id for item in new for tag_id in item.tag_ids})
        secrets = [
            Secret(
                id=new_uuid(),
                project_id=access.project.id,
                folder_id=folder.id,
                environment=at.environment,
                path=at.path,
                key=_key(access, item.key, field="secretName", is_new=not owner),
                owner=owner,
                version=1,
                value=checked_value(item.value),
                details=SecretDetails(
                    item.comment,
                    item.metadata,
                    item.reminder_note,
                    item.reminder_repeat_days,
                    is_literal=item.is_literal,
                ),
                skip_multiline_encoding=item.skip_multiline_encoding,
                created_at=now,
                updated_at=now,
                tags=tuple(tags[tag_id] for tag_id in dict.fromkeys(item.tag_ids)),
            )
            for item in new
        ]
        keys = [secret.key for secret in secrets]
        places = _locations(at, keys)
        if owner:
            await _require_shared(unit, access, places)
        taken = await unit.secrets.at(access.project.id, places, with_values=False, owner=owner)
        again = [secret.key for secret in taken] or [key for key, times in Counter(keys).items() if times > 1]
        if again:
            # Clients know the published text, which says all where there is one secret.
            raise InvalidError(f"Secret already exists{f': {min(again)}' if len(keys) > 1 else ''}")
        names = await names_of(secrets)
        await require_readable_targets(unit, access, names)
        await unit.secrets.insert(access.project.id, secrets)
        await store_references(unit, access, names, rewritten={secret.id for secret in secrets})
        return secrets

    async def _update(
        self, unit: UnitOfWork, access: ProjectAccess, run: Run, owner: str, on_missing: OnMissing
    ) -> list[ShownSecret]:
        """Store new versions of different secrets; a rename comes alone."""
        if owner and any(change.new_key not in (None, change.key) for _, change in run):
            raise InvalidError("Personal secret cannot change the key name")
        places = [_location(at, change.key) for at, change in run]
        found = await unit.secrets.at(access.project.id, places, owner=owner)
        stored = {Location(old.environment, old.path, old.key): old for old in found}
        tag_ids = {tag_id for _, change in run for tag_id in change.tag_ids or ()}
        tags = await _tags(unit, access, tag_ids)
        now = self._clock.now()
        renewed: dict[Location, Secret] = {}
        for place, (_, change) in zip(places, run, strict=True):
            if place in stored:
                old = stored[place]
                new_key = await _new_key(unit, access, old, change)
                renewed[place] = replace(changed_secret(old, change, tags), key=new_key, updated_at=now)
        if renewed:
            await self._store(unit, access, [(stored[place], new) for place, new in renewed.items()], now)
        missing = [item for place, item in zip(places, run, strict=True) if place not in stored]
        if missing:
            renewed.update(await self._missing(unit, access, missing, owner, on_missing))
        return [
            ShownSecret(_as_readable(access, renewed[place]), change.value or "")
            for place, (_, change) in zip(places, run, strict=True)
            if place in renewed
        ]

    async def _store(
        self, unit: UnitOfWork, access: ProjectAccess, pairs: Sequence[tuple[Secret, Secret]], now: datetime
    ) -> None:
        news = [new for _, new in pairs]
        rewritten = {new.id for old, new in pairs if new.value != old.value}
        names = await names_of(news)
        await require_readable_targets(unit, access, [one for one in names if one[0].id in rewritten])
        # What has another name now may be what others have referred to.
        await require_readable_stored(unit, access, [old for old, new in pairs if new.key != old.key])
        await unit.secrets.update(access.project.id, news)
        await store_references(unit, access, names, rewritten=rewritten)
        for old, new in pairs:
            if new.key != old.key:
                await unit.secrets.move_overrides(old, new)
                await follow_secret(unit, access, old, new, now)

    async def _missing(
        self,
        unit: UnitOfWork,
        access: ProjectAccess,
        missing: Run,
        owner: str,
        on_missing: OnMissing,
    ) -> dict[Location, Secret]:
        """Do what the request says about keys that don't exist; return what was created, by what was asked."""
        by_place: dict[SecretsAt, list[ChangedSecret]] = {}
        for at, change in missing:
            by_place.setdefault(at, []).append(change)
        created: dict[Location, Secret] = {}
        for at, changes in by_place.items():
            await folder_at(unit, access, at, name="UpdateSecret")
            match on_missing:
                case OnMissing.IGNORE:
                    continue
                case OnMissing.FAIL:
                    raise NotFoundError(f"Secret with name {changes[0].key} not found")
                case OnMissing.UPSERT:
                    access.require(Action.CREATE, Subject.SECRETS, Where(at.environment, at.path))
                    for change in changes:
                        require_new_name(change)
                    new = [secret_of_change(change) for change in changes]
                    secrets = await self._create(unit, access, at, new, owner)
                    for change, secret in zip(changes, secrets, strict=True):
                        created[_location(at, change.key)] = secret
        return created


async def _require_shared(unit: UnitOfWork, access: ProjectAccess, places: Sequence[Location]) -> None:
    """Let pass personal secrets that have a shared one of their key."""
    shared = await unit.secrets.at(access.project.id, places, with_values=False)
    if {secret.key for secret in shared} < {place.key for place in places}:
        raise InvalidError("Failed to create personal secret override for no corresponding shared secret")


async def _tags(unit: UnitOfWork, access: ProjectAccess, tag_ids: set[str]) -> dict[str, Tag]:
    if not tag_ids:
        return {}
    found = await unit.tags.by_ids(access.project.id, tag_ids)
    if len(found) < len(tag_ids):
        raise NotFoundError(f"Tag not found. Found {len(found)} of {len(tag_ids)} tags")
    return {tag.id: tag for tag in found}


async def _new_key(unit: UnitOfWork, access: ProjectAccess, old: Secret, change: ChangedSecret) -> str:
    require_new_name(change)
    if change.new_key is None:
        return old.key
    if _key(access, change.new_key, field="newSecretName") == old.key:
        return old.key
    new_key = _key(access, change.new_key, field="newSecretName", is_new=True)
    place = Location(old.environment, old.path, new_key)
    if await unit.secrets.at(access.project.id, [place], with_values=False):
        raise InvalidError("Secret with the new name already exists")
    return new_key


def _key(access: ProjectAccess, text: str, *, field: str, is_new: bool = False) -> str:
    name = checked_new_name(text, field=field) if is_new else checked_name(text, field=field)
    return name.upper() if access.project.auto_capitalization else name


def _as_readable(access: ProjectAccess, secret: Secret) -> Secret:
    """Return the secret; without what it carries for those who may write but not read it."""
    if access.allows(Action.READ, Subject.SECRETS, Where(secret.environment, secret.path)):
        return secret
    return replace(secret, details=SecretDetails(), tags=())


def _location(at: SecretsAt, key: str) -> Location:
    return Location(at.environment, at.path, key)


def _locations(at: SecretsAt, keys: Iterable[str]) -> list[Location]:
    return [_location(at, key) for key in keys]
