"""Path-scoped grants: what a member of a project may or may not do in a part of it, beside its roles.

Nobody gives more than they may do themselves, and nobody lifts a denial of what they are denied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, IdentityId, new_uuid
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import ONLY_SUBJECT, Action, Principal, Subject
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.path_patterns import new_pattern
from keybearer.domain.permissions import ANY_ENVIRONMENT, Effect, require_may_give, rule_of
from keybearer.store.audit import AuditEvent
from keybearer.store.database import Database
from keybearer.store.grants import Grant
from keybearer.store.unit import UnitOfWork

__all__ = ["GrantChange", "NewGrant", "ProjectGrants", "grant_event"]

_MAX_PER_MEMBER = 100
"""They are all weighed at each question of the member."""
_PLACED = frozenset({Subject.SECRETS, Subject.FOLDERS, Subject.IMPORTS})


@dataclass(frozen=True, slots=True)
class NewGrant:
    """What a grant is made of; `secret_path` is a pattern."""

    identity_id: IdentityId
    effect: Effect
    subjects: tuple[Subject, ...]
    actions: tuple[Action, ...]
    environment: str
    secret_path: str


@dataclass(frozen=True, slots=True)
class GrantChange:
    """What changes; None leaves a field as it is."""

    effect: Effect | None = None
    subjects: tuple[Subject, ...] | None = None
    actions: tuple[Action, ...] | None = None
    environment: str | None = None
    secret_path: str | None = None


class ProjectGrants:
    """Decides about grants."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, principal: Principal, ref: ProjectRef, new: NewGrant) -> Grant:
        """Give a member of the project a grant.

        Raises:
            NotFoundError: no such project or environment, or the identity is no member of it.
            ForbiddenError: the principal may not, or would give more than it has.
            InvalidError: the grant makes no sense, its path holds `**` too often, or the member has too many.
            SchemaViolationError: the path is no pattern.
        """
        async with self._database.writing() as unit:
            access = await _open(unit, principal, ref, Action.CREATE)
            # First: those who give grants at the same moment count one after the other.
            await _move(unit, access, new.identity_id)
            present = await self._of_member(unit, access, new.identity_id)
            if len(present) >= _MAX_PER_MEMBER:
                raise InvalidError(
                    f"A member has at most {_MAX_PER_MEMBER} grants; widen one of them instead"
                )
            now = self._clock.now()
            grant = Grant(
                id=new_uuid(),
                project_id=access.project.id,
                identity_id=new.identity_id,
                effect=new.effect,
                subjects=_once(new.subjects),
                actions=_once(new.actions),
                environment=new.environment,
                environment_id=await _environment_id(unit, access, new.environment),
                secret_path=str(new_pattern(new.secret_path)),
                created_at=now,
                updated_at=now,
            )
            _require_sensible(grant)
            _require_own(access, grant, Effect.ALLOW)
            await unit.grants.add(grant)
            await unit.audit(grant_event(principal, EventType.CREATE_GRANT, grant))
            return grant

    async def list(
        self, principal: Principal, ref: ProjectRef, identity_id: IdentityId | None = None
    ) -> Sequence[Grant]:
        """Return the grants of a project, oldest first; of one member if it is named.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not read grants.
        """
        async with self._database.reading() as unit:
            access = await _open(unit, principal, ref, Action.READ)
            grants = await unit.grants.of_project(access.project.id)
        return [grant for grant in grants if identity_id in (None, grant.identity_id)]

    async def get(self, principal: Principal, ref: ProjectRef, grant_id: str) -> Grant:
        """Return one grant of a project.

        Raises:
            NotFoundError: no such project or grant.
            ForbiddenError: the principal may not read grants.
        """
        async with self._database.reading() as unit:
            access = await _open(unit, principal, ref, Action.READ)
            return await _one(unit, access, grant_id)

    async def update(
        self, principal: Principal, ref: ProjectRef, grant_id: str, change: GrantChange
    ) -> Grant:
        """Change what a grant says.

        Raises:
            NotFoundError: no such project, grant or environment.
            ForbiddenError: the principal may not, or would give more than it has.
            InvalidError: the grant would make no sense, or its path holds `**` too often.
            SchemaViolationError: the path is no pattern.
        """
        async with self._database.writing() as unit:
            access = await _open(unit, principal, ref, Action.EDIT)
            await unit.move_project(access.project.id)
            old = await _one(unit, access, grant_id)
            new = replace(
                old,
                effect=change.effect or old.effect,
                subjects=_once(change.subjects or old.subjects),
                actions=_once(change.actions or old.actions),
                environment=change.environment or old.environment,
                environment_id=(
                    await _environment_id(unit, access, change.environment)
                    if change.environment
                    else old.environment_id
                ),
                secret_path=str(new_pattern(change.secret_path)) if change.secret_path else old.secret_path,
                updated_at=self._clock.now(),
            )
            _require_sensible(new)
            _require_own(access, old, Effect.DENY)
            _require_own(access, new, Effect.ALLOW)
            await _move(unit, access, new.identity_id)
            await unit.grants.update(new)
            await unit.audit(grant_event(principal, EventType.UPDATE_GRANT, new))
            return new

    async def delete(self, principal: Principal, ref: ProjectRef, grant_id: str) -> Grant:
        """Remove a grant, and return what it was.

        Raises:
            NotFoundError: no such project or grant.
            ForbiddenError: the principal may not, or is itself denied what the grant denies.
        """
        async with self._database.writing() as unit:
            access = await _open(unit, principal, ref, Action.DELETE)
            await unit.move_project(access.project.id)
            grant = await _one(unit, access, grant_id)
            _require_own(access, grant, Effect.DENY)
            await _move(unit, access, grant.identity_id)
            await unit.grants.delete(grant.id)
            await unit.audit(grant_event(principal, EventType.DELETE_GRANT, grant))
            return grant

    async def _of_member(
        self, unit: UnitOfWork, access: ProjectAccess, identity_id: IdentityId
    ) -> Sequence[Grant]:
        project_id = access.project.id
        if await unit.projects.membership(project_id, identity_id) is None:
            raise NotFoundError(f"Identity with ID '{identity_id}' is not a member of the project")
        return (await unit.grants.of_member(identity_id, [project_id])).get(project_id, [])


async def _open(unit: UnitOfWork, principal: Principal, ref: ProjectRef, action: Action) -> ProjectAccess:
    access = await open_project(unit, principal, ref)
    access.require(action, Subject.GRANTS)
    return access


async def _one(unit: UnitOfWork, access: ProjectAccess, grant_id: str) -> Grant:
    grant = await unit.grants.get(access.project.id, grant_id)
    if grant is None:
        raise NotFoundError(f"Grant with ID '{grant_id}' not found")
    return grant


async def _environment_id(unit: UnitOfWork, access: ProjectAccess, slug: str) -> str | None:
    """Return which environment a grant is about; None for all of them.

    Raises:
        NotFoundError: the project has none of that slug.
    """
    if slug == ANY_ENVIRONMENT:
        return None
    environment = await unit.projects.environment(access.project.id, EnvironmentSlug(slug))
    if environment is None:
        raise NotFoundError(
            f"Environment with slug '{slug}' in project with ID {access.project.id} not found; "
            f"name one that exists, or '{ANY_ENVIRONMENT}' for all of them"
        )
    return environment.id


async def _move(unit: UnitOfWork, access: ProjectAccess, identity_id: IdentityId) -> None:
    """Have every tag and cache forget what the member got to see so far; other writers wait for this one."""
    await unit.move_project(access.project.id)
    await unit.move_identity(identity_id)


def _require_sensible(grant: Grant) -> None:
    rule = rule_of(grant)
    placeless = sorted(rule.subjects - _PLACED)
    if placeless and not rule.is_everywhere:
        raise InvalidError(
            f"{placeless[0]} has no place in a project: grant it for the environment "
            f"'{ANY_ENVIRONMENT}' and the path '/**', apart from what has"
        )
    for action, subject in ONLY_SUBJECT.items():
        if action in rule.actions and subject not in rule.subjects:
            raise InvalidError(f"{action} is an action on {subject} alone: it needs the subject {subject}")


def _require_own(access: ProjectAccess, grant: Grant, effect: Effect) -> None:
    """Let pass what the principal may do itself: of an allow that it gives, of a denial that it lifts."""
    if grant.effect == effect:
        require_may_give(access.permissions, [rule_of(grant)])


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def grant_event(principal: Principal, kind: EventType, grant: Grant) -> AuditEvent:
    """Return what the audit log says of something done to a grant."""
    return audited(
        principal,
        kind,
        grant.project_id,
        grantId=grant.id,
        identityId=grant.identity_id,
        effect=grant.effect,
        subjects=list(grant.subjects),
        actions=list(grant.actions),
        environment=grant.environment,
        secretPath=grant.secret_path,
    )
