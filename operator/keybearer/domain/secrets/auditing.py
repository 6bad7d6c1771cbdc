"""What the audit log says of changed secrets: one line per folder, under the word for one or for several."""

from __future__ import annotations

from collections.abc import Iterable

from keybearer.domain.access import ProjectAccess
from keybearer.domain.audit import EventType, audited
from keybearer.store.audit import AuditDetail
from keybearer.store.records import Secret
from keybearer.store.unit import UnitOfWork

__all__ = ["CREATED", "DELETED", "UPDATED", "audit_secrets"]

CREATED = (EventType.CREATE_SECRET, EventType.CREATE_SECRETS)
UPDATED = (EventType.UPDATE_SECRET, EventType.UPDATE_SECRETS)
DELETED = (EventType.DELETE_SECRET, EventType.DELETE_SECRETS)


async def audit_secrets(
    unit: UnitOfWork,
    access: ProjectAccess,
    kinds: tuple[EventType, EventType],
    secrets: Iterable[Secret],
    **details: AuditDetail,
) -> None:
    """Write down that these secrets of a project were changed, at the places they have now."""
    one, many = kinds
    keys_at: dict[tuple[str, str], list[str]] = {}
    for secret in secrets:
        keys_at.setdefault((secret.environment, secret.path), []).append(secret.key)
    for (environment, path), keys in sorted(keys_at.items()):
        await unit.audit(
            audited(
                access.principal,
                one if len(keys) == 1 else many,
                access.project.id,
                environment=environment,
                secretPath=path,
                secretKeys=keys,
                **details,
            )
        )
