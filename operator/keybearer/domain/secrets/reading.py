"""Reading secrets: lists with their tag, one secret, one of its versions (wire.md sections 2.2 and 2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import NotFoundError
from keybearer.domain.secrets.entity_tags import EntityTags, FurtherReach, candidates
from keybearer.domain.secrets.expansion import Expanded, expand_all, target_of
from keybearer.domain.secrets.folder_lookup import folder_missing
from keybearer.domain.secrets.imported import imported_secret
from keybearer.domain.secrets.listing import imported_selected, listed_secrets, selected
from keybearer.domain.secrets.personal import overridden, owner_of
from keybearer.domain.secrets.questions import (
    GetSecret,
    ListSecrets,
    NotModified,
    Reached,
    SecretListing,
    SecretsAt,
    ShownSecret,
)
from keybearer.domain.secrets.reference_tree import ReferenceNode, reference_tree
from keybearer.domain.secrets.showing import all_shown, shown, shown_imports, visible
from keybearer.store.audit import AuditEvent
from keybearer.store.database import Database
from keybearer.store.records import Secret
from keybearer.store.secret_places import Location
from keybearer.store.unit import UnitOfWork

__all__ = ["SecretReading", "revisions_of"]


class SecretReading:
    """Answers questions about secrets."""

    def __init__(self, database: Database, tags: EntityTags, trail: AuditTrail) -> None:
        self._database = database
        self._trail = trail
        self._tags = tags

    async def list(
        self, principal: Principal, query: ListSecrets, if_none_match: str | None = None
    ) -> SecretListing | NotModified:
        """Return the secrets of a folder; an unknown path holds none.

        Raises:
            NotFoundError: no such project or environment.
            ForbiddenError: the principal may not read them, or one they refer to.
            InvalidError: the list is larger than is answered at once, or grows so through references.
        """
        async with self._database.reading() as unit:
            access = await self._open(unit, principal, query.at, recursive=query.recursive)
            given = candidates(if_none_match)
            for tag in given:
                reached = await self._unchanged(unit, access, query, tag)
                if reached is not None:
                    return NotModified(tag, reached)
            secrets = await listed_secrets(unit, access, query)
            blocks = await imported_selected(unit, access, query, secrets)
            if not secrets and not blocks:
                await _require_environment(unit, access, query.at)
            secrets = await overridden(unit, access, query, list(selected(secrets, query)))
            secrets.sort(key=lambda secret: (secret.key, secret.path))
            # A secret that comes in several ways is expanded once.
            everything = {secret.id: secret for block in blocks for secret in block.secrets}
            everything.update((secret.id, secret) for secret in secrets)
            opened = await visible(access, everything.values()) if query.view_value else []
            if query.expand:
                expanded = await expand_all(
                    unit, access, opened, single=False, with_own=query.personal_overrides
                )
            else:
                expanded = Expanded({secret.id: secret.value or "" for secret in opened}, FurtherReach())
            revisions = await revisions_of(unit, access, expanded.reach)
        tag = self._tags.make(principal, query, expanded.reach, revisions)
        reached = Reached(tuple(sorted(revisions.items())))
        self._database.revisions.observe(revisions)
        if tag in given:
            return NotModified(tag, reached)
        read = _read(access, query, opened, expanded.reach)
        if read is not None:
            self._trail.read(read)
        answered = await all_shown(secrets, expanded.values)
        imports = await shown_imports(blocks, expanded.values)
        return SecretListing(answered, imports, tag, reached, read)

    async def get(self, principal: Principal, query: GetSecret) -> ShownSecret:
        """Return one secret.

        Raises:
            NotFoundError: no such project, folder, secret or version.
            ForbiddenError: the principal may not read it, or one it refers to.
            InvalidError: references make it grow beyond all bounds.
        """
        async with self._database.reading() as unit:
            access = await self._open(unit, principal, query.at)
            place = Location(query.at.environment, query.at.path, query.key)
            # Personal secrets belong to users: a machine identity has none (wire.md section 2.8).
            owner = owner_of(principal) if query.personal else ""
            found = [] if owner is None else await unit.secrets.at(access.project.id, [place], owner=owner)
            if not found:
                folder = await unit.folders.at(access.project.id, place.environment, place.path)
                if folder is None:
                    raise folder_missing(query.at, name="GetSecretByName")
                imported = None
                if query.include_imports and not query.personal:
                    imported = await imported_secret(unit, access, query.at, query.key)
                if imported is None:
                    raise NotFoundError(f"Secret with name '{query.key}' not found")
                found = [imported]
            return await self._one(unit, access, found[0], query)

    async def reference_tree(
        self, principal: Principal, at: SecretsAt, key: str
    ) -> tuple[ReferenceNode, ShownSecret]:
        """Return what a secret of the folder is made of, and the secret itself, expanded.

        Raises:
            NotFoundError: no such project, folder or secret.
            ForbiddenError: the principal may not read it, or one it refers to.
            InvalidError: references make it grow beyond all bounds.
        """
        async with self._database.reading() as unit:
            access = await self._open(unit, principal, at)
            found = await unit.secrets.at(access.project.id, [Location(at.environment, at.path, key)])
            if not found:
                raise NotFoundError(f"Secret with name '{key}' not found")
            query = GetSecret(
                at, key, personal=False, version=None, expand=True, view_value=True, include_imports=False
            )
            expanded = await self._one(unit, access, found[0], query)
            learnt = await expand_all(unit, access, found, single=True)
            target = target_of(found[0])
            literal = learnt.literal | ({target} if found[0].details.is_literal else set())
            return reference_tree(
                target, {**learnt.known, target: found[0].value}, literal, learnt.redirects
            ), expanded

    async def get_by_id(
        self, principal: Principal, secret_id: str, *, expand: bool, view_value: bool
    ) -> ShownSecret:
        """Return the present version of the secret of that id.

        Raises:
            NotFoundError: no project of the organization has it.
            ForbiddenError: the principal may not read it, or one it refers to.
            InvalidError: references make it grow beyond all bounds.
        """
        async with self._database.reading() as unit:
            found = await unit.secrets.by_ids([secret_id])
            if not found or found[0].owner not in ("", owner_of(principal)):
                raise NotFoundError(f"Secret with ID '{secret_id}' not found")
            secret = found[0]
            ref = ProjectRef(id=secret.project_id)
            at = SecretsAt(ref, secret.environment, secret.path)
            access = await self._open(unit, principal, at)
            query = GetSecret(
                at,
                secret.key,
                personal=bool(secret.owner),
                version=None,
                expand=expand,
                view_value=view_value,
                include_imports=False,
            )
            return await self._one(unit, access, secret, query)

    async def _one(
        self, unit: UnitOfWork, access: ProjectAccess, secret: Secret, query: GetSecret
    ) -> ShownSecret:
        if query.version is not None and query.version != secret.version:
            former = await unit.secrets.version(secret, query.version)
            if former is None:
                raise NotFoundError(f"Version {query.version} of secret with name '{query.key}' not found")
            secret = former
        if not query.view_value:
            return shown(secret, {})
        if not await visible(access, [secret]):
            raise access.refusal(
                f"You do not have permission to view secret value on secret with name '{secret.key}'",
                Action.READ_VALUE,
                Subject.SECRETS,
                Where(secret.environment, secret.path),
                name="ForbiddenReadSecretError",
            )
        values: Mapping[str, str] = {secret.id: secret.value or ""}
        if query.expand:
            values = (await expand_all(unit, access, [secret], single=True)).values
        self._trail.read(
            audited(
                access.principal,
                EventType.GET_SECRET,
                access.project.id,
                environment=secret.environment,
                secretPath=secret.path,
                secretKey=secret.key,
                secretId=secret.id,
                secretVersion=secret.version,
            )
        )
        return shown(secret, values)

    async def _open(
        self, unit: UnitOfWork, principal: Principal, at: SecretsAt, *, recursive: bool = False
    ) -> ProjectAccess:
        """Return the project; of a subtree some place must be readable, and only such places will be shown."""
        access = await open_project(unit, principal, at.project)
        where = Where(at.environment, at.path)
        if not (recursive and access.permissions.allows_beneath(Action.READ, Subject.SECRETS, where)):
            access.require(Action.READ, Subject.SECRETS, where)
        return access

    async def _unchanged(
        self, unit: UnitOfWork, access: ProjectAccess, query: ListSecrets, tag: str
    ) -> Reached | None:
        """Return what the tag's answer reached if it still stands, from revisions alone."""
        reach = self._tags.reach_of(tag)
        if reach is None:
            return None
        revisions = await revisions_of(unit, access, reach)
        if tag != self._tags.make(access.principal, query, reach, revisions):
            return None
        self._database.revisions.observe(revisions)
        return Reached(tuple(sorted(revisions.items())))


async def revisions_of(unit: UnitOfWork, access: ProjectAccess, reach: FurtherReach) -> dict[str, int]:
    """Return the revision of all that an answer was read from, by the id of its project or organization."""
    revisions: dict[str, int] = {access.project.id: access.project.revision}
    if reach.projects:
        revisions.update(await unit.projects.revisions(reach.projects))
    if reach.names:
        organization_id = access.project.organization_id
        revisions[organization_id] = await unit.projects.names_revision(organization_id)
    return revisions


async def _require_environment(unit: UnitOfWork, access: ProjectAccess, at: SecretsAt) -> None:
    if await unit.projects.environment(access.project.id, at.environment) is None:
        raise NotFoundError(
            f"Environment with slug '{at.environment}' in project with ID {access.project.id} not found"
        )


def _read(
    access: ProjectAccess, query: ListSecrets, opened: Sequence[Secret], reach: FurtherReach
) -> AuditEvent | None:
    """Return what the audit log says of a list that shows the values of these secrets."""
    if not opened:
        return None
    return audited(
        access.principal,
        EventType.GET_SECRETS,
        access.project.id,
        environment=query.at.environment,
        secretPath=query.at.path,
        recursive=query.recursive,
        numberOfSecrets=len(opened),
        secretKeys=[secret.key for secret in opened],
        **({"furtherProjects": sorted(reach.projects)} if reach.projects else {}),
    )
