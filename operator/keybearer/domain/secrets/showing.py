"""Secrets as the caller gets to see them: with their values, or hidden."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence

from keybearer.base.slices import in_slices
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Subject
from keybearer.domain.secrets.imported import ImportedBlock
from keybearer.domain.secrets.questions import ShownImport, ShownSecret
from keybearer.store.records import Secret
from keybearer.wire.limits import HIDDEN_VALUE

__all__ = ["all_shown", "shown", "shown_imports", "visible"]


async def visible(access: ProjectAccess, secrets: Collection[Secret]) -> list[Secret]:
    """Return those whose values the principal may see."""
    places = [(secret.environment, secret.path) for secret in secrets]
    readable = await access.permissions.places(Action.READ_VALUE, Subject.SECRETS, places)
    return [secret for secret in secrets if (secret.environment, secret.path) in readable]


async def shown_imports(
    blocks: Iterable[ImportedBlock], values: Mapping[str, str]
) -> tuple[ShownImport, ...]:
    """Return the blocks with their secrets; values by the id of the secret."""
    found: list[ShownImport] = []
    for imported in blocks:
        block = imported.block
        secrets = await all_shown(imported.secrets, values)
        found.append(ShownImport(block.environment, block.path, block.folder_id, secrets))
        await asyncio.sleep(0)  # others have their turn: there may be a thousand blocks
    return tuple(found)


async def all_shown(secrets: Sequence[Secret], values: Mapping[str, str]) -> tuple[ShownSecret, ...]:
    """Return all of these secrets; values by the id of the secret."""
    found: list[ShownSecret] = []
    async for some in in_slices(secrets):
        found.extend(shown(secret, values) for secret in some)
    return tuple(found)


def shown(secret: Secret, values: Mapping[str, str]) -> ShownSecret:
    """Return the secret with its value, or hidden where its value is none of those."""
    value = values.get(secret.id)
    return ShownSecret(secret, HIDDEN_VALUE, hidden=True) if value is None else ShownSecret(secret, value)
