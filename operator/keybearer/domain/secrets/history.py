"""All versions of one secret, as they were stored (wire.md sections 2.1 and 2.3)."""

from __future__ import annotations

from collections.abc import Sequence

from keybearer.domain.access import ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import Action, Principal, Subject, Where
from keybearer.domain.errors import NotFoundError
from keybearer.domain.secrets.personal import owner_of
from keybearer.domain.secrets.questions import ShownSecret
from keybearer.store.database import Database
from keybearer.wire.limits import HIDDEN_VALUE

__all__ = ["SecretHistory"]


class SecretHistory:
    """Answers what a secret was."""

    def __init__(self, database: Database, trail: AuditTrail) -> None:
        self._database = database
        self._trail = trail

    async def versions(
        self, principal: Principal, secret_id: str, *, offset: int, limit: int
    ) -> Sequence[ShownSecret]:
        """Return versions of a secret, the newest first, with their texts as they were stored.

        Args:
            principal: who asks; values are hidden from who may not see the present one.
            secret_id: the secret.
            offset: how many of the newest are left out.
            limit: how many are returned at most.

        Raises:
            NotFoundError: no project of the organization has it.
            ForbiddenError: the principal may not read it.
        """
        async with self._database.reading() as unit:
            found = await unit.secrets.by_ids([secret_id], with_values=False)
            if not found or found[0].owner not in ("", owner_of(principal)):
                raise NotFoundError(f"Secret with ID '{secret_id}' not found")
            secret = found[0]
            access = await open_project(unit, principal, ProjectRef(id=secret.project_id))
            where = Where(secret.environment, secret.path)
            access.require(Action.READ, Subject.SECRETS, where)
            versions = await unit.secrets.versions(secret, offset=offset, limit=limit)
            if not access.allows(Action.READ_VALUE, Subject.SECRETS, where):
                return [ShownSecret(version, HIDDEN_VALUE, hidden=True) for version in versions]
        self._trail.read(
            audited(
                principal,
                EventType.GET_SECRET,
                secret.project_id,
                environment=secret.environment,
                secretPath=secret.path,
                secretKey=secret.key,
                secretId=secret.id,
                numberOfVersions=len(versions),
            )
        )
        return [ShownSecret(version, version.value or "") for version in versions]
