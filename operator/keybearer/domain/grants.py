"""Path-scoped grants: what a member of a project may or may not do in a part of it, beside its roles.

Nobody gives more than they may do themselves, and nobody lifts a denial of what they are denied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from keybearer.base.clock import Clock
from keybearer.base.ids import EnvironmentSlug, IdentityId, new_uuid
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import ONLY_SUBJECT, Action, Principal, Subject
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.domain.path_patterns import new_pattern
from keybearer.domain.permissions import ANY_ENVIRONMENT, Effect, require_may_give, rule_of
from keybearer.domain.project_gate import Entered, ProjectGate, changed
from keybearer.interface.grants import CreateGrant, DeleteGrant, GetGrant, ListGrants, UpdateGrant
from keybearer.store.audit import AuditDetail, AuditEvent
from keybearer.store.database import Database
from keybearer.store.tables.grants import Grant

__all__ = ["ProjectGrants", "grant_event"]

_MAX_PER_MEMBER = 100
"""They are all weighed at each question of the member."""
_PLACED = frozenset({Subject.SECRETS, Subject.FOLDERS, Subject.IMPORTS})
_EVENTS = {
    Action.CREATE: EventType.CREATE_GRANT,
    Action.EDIT: EventType.UPDATE_GRANT,
    Action.DELETE: EventType.DELETE_GRANT,
}


class ProjectGrants:
    """Decides about grants."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._gate = ProjectGate(database, Subject.GRANTS, _EVENTS)
        self._clock = clock

    async def create(self, principal: Principal, new: CreateGrant) -> Grant:
        """Give a member of the project a grant.

        Raises:
            NotFoundError: no such project or environment, or the identity is no member of it.
            ForbiddenError: the principal may not, or would give more than it has.
            InvalidError: the grant makes no sense, its path holds `**` too often, or the member has too many.
            SchemaViolationError: the path is no pattern.
        """
        async with self._gate.changing(principal, new.project_id, Action.CREATE) as entered:
            unit, member = entered.unit, IdentityId(new.identity_id)
            # First: those who give grants at the same moment count one after the other.
            await unit.move_identity(member)
            if len(await _of_member(entered, member)) >= _MAX_PER_MEMBER:
                raise InvalidError(
                    f"A member has at most {_MAX_PER_MEMBER} grants; widen one of them instead"
                )
            now = self._clock.now()
            grant = Grant(
                id=new_uuid(),
                project_id=entered.project_id,
                identity_id=member,
                effect=new.effect,
                subjects=_once(new.subjects),
                actions=_once(new.actions),
                environment=new.environment,
                environment_id=await _environment_id(entered, new.environment),
                secret_path=str(new_pattern(new.secret_path)),
                created_at=now,
                updated_at=now,
            )
            _require_sensible(grant)
            _require_own(entered, grant, Effect.ALLOW)
            await unit.grants.add(grant)
            return _noted(entered, grant)

    async def list(self, principal: Principal, asked: ListGrants) -> Sequence[Grant]:
        """Return the grants of a project, oldest first; of one member if it is named.

        Raises:
            NotFoundError: no such project.
            ForbiddenError: the principal may not read grants.
        """
        async with self._gate.reading(principal, asked.project_id) as entered:
            grants = await entered.unit.grants.of_project(entered.project_id)
        return [grant for grant in grants if asked.identity_id in (None, grant.identity_id)]

    async def get(self, principal: Principal, asked: GetGrant) -> Grant:
        """Return one grant of a project.

        Raises:
            NotFoundError: no such project or grant.
            ForbiddenError: the principal may not read grants.
        """
        async with self._gate.reading(principal, asked.project_id) as entered:
            return await _one(entered, asked.grant_id)

    async def update(self, principal: Principal, change: UpdateGrant) -> Grant:
        """Change what a grant says.

        Raises:
            NotFoundError: no such project, grant or environment.
            ForbiddenError: the principal may not, or would give more than it has.
            InvalidError: the grant would make no sense, or its path holds `**` too often.
            SchemaViolationError: the path is no pattern.
        """
        async with self._gate.changing(principal, change.project_id, Action.EDIT) as entered:
            old = await _one(entered, change.grant_id)
            new = changed(old, change, self._clock.now())
            new = replace(new, subjects=_once(new.subjects), actions=_once(new.actions))
            if change.environment is not None:
                new = replace(new, environment_id=await _environment_id(entered, change.environment))
            if change.secret_path is not None:
                new = replace(new, secret_path=str(new_pattern(change.secret_path)))
            _require_sensible(new)
            _require_own(entered, old, Effect.DENY)
            _require_own(entered, new, Effect.ALLOW)
            await entered.unit.move_identity(new.identity_id)
            await entered.unit.grants.update(new)
            return _noted(entered, new)

    async def delete(self, principal: Principal, asked: DeleteGrant) -> Grant:
        """Remove a grant, and return what it was.

        Raises:
            NotFoundError: no such project or grant.
            ForbiddenError: the principal may not, or is itself denied what the grant denies.
        """
        async with self._gate.changing(principal, asked.project_id, Action.DELETE) as entered:
            grant = await _one(entered, asked.grant_id)
            _require_own(entered, grant, Effect.DENY)
            await entered.unit.move_identity(grant.identity_id)
            await entered.unit.grants.delete(grant.id)
            return _noted(entered, grant)


async def _of_member(entered: Entered, identity_id: IdentityId) -> Sequence[Grant]:
    project_id = entered.project_id
    if await entered.unit.projects.membership(project_id, identity_id) is None:
        raise NotFoundError(f"Identity with ID '{identity_id}' is not a member of the project")
    return (await entered.unit.grants.of_member(identity_id, [project_id])).get(project_id, [])


async def _one(entered: Entered, grant_id: str) -> Grant:
    grant = await entered.unit.grants.get(entered.project_id, grant_id)
    if grant is None:
        raise NotFoundError(f"Grant with ID '{grant_id}' not found")
    return grant


async def _environment_id(entered: Entered, slug: str) -> str | None:
    """Return which environment a grant is about; None for all of them.

    Raises:
        NotFoundError: the project has none of that slug.
    """
    if slug == ANY_ENVIRONMENT:
        return None
    environment = await entered.unit.projects.environment(entered.project_id, EnvironmentSlug(slug))
    if environment is None:
        raise NotFoundError(
            f"Environment with slug '{slug}' in project with ID {entered.project_id} not found; "
            f"name one that exists, or '{ANY_ENVIRONMENT}' for all of them"
        )
    return environment.id


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


def _require_own(entered: Entered, grant: Grant, effect: Effect) -> None:
    """Let pass what the principal may do itself: of an allow that it gives, of a denial that it lifts."""
    if grant.effect == effect:
        require_may_give(entered.access.permissions, [rule_of(grant)])


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _noted(entered: Entered, grant: Grant) -> Grant:
    """Return the grant, noted for the audit log."""
    entered.details.update(_told(grant))
    return grant


def grant_event(principal: Principal, kind: EventType, grant: Grant) -> AuditEvent:
    """Return what the audit log says of something done to a grant."""
    return audited(principal, kind, grant.project_id, **_told(grant))


def _told(grant: Grant) -> dict[str, AuditDetail]:
    return {
        "grantId": grant.id,
        "identityId": grant.identity_id,
        "effect": grant.effect,
        "subjects": list(grant.subjects),
        "actions": list(grant.actions),
        "environment": grant.environment,
        "secretPath": grant.secret_path,
    }
