"""Imports what a destination holds: by `import-secrets`, and before the first push (wire.md 3.4, rules 2 and 4)."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.destinations.protocol import Present
from keybearer.domain.authorization import Where
from keybearer.domain.errors import DomainError, InvalidError, SchemaViolationError
from keybearer.domain.secrets.text import checked_name, checked_new_name, checked_value
from keybearer.domain.secrets.writing import SecretWriting
from keybearer.domain.syncs.rules import require_may_import
from keybearer.domain.syncs.source import access_of, folder_of, read_source
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.unit import UnitOfWork
from keybearer.wire.destination_forms import ImportBehavior, InitialSyncBehavior
from keybearer.wire.key_schema import KeyNaming

__all__ = ["behavior_at_first", "found_in", "take_in", "taken"]

_NAMED_MAX = 10


def behavior_at_first(initial: InitialSyncBehavior) -> ImportBehavior | None:
    """Return how the first push imports before it writes; None if it doesn't."""
    match initial:
        case InitialSyncBehavior.OVERWRITE_DESTINATION:
            return None
        case InitialSyncBehavior.IMPORT_PRIORITIZE_SOURCE:
            return ImportBehavior.PRIORITIZE_SOURCE
        case InitialSyncBehavior.IMPORT_PRIORITIZE_DESTINATION:
            return ImportBehavior.PRIORITIZE_DESTINATION


def found_in(listing: Mapping[str, Present], naming: KeyNaming) -> dict[str, str]:
    """Return what the destination holds by key, without names that don't match the key schema.

    Raises:
        InvalidError: some names can't be names of secrets.
    """
    found: dict[str, str] = {}
    invalid: list[str] = []
    for name, present in sorted(listing.items()):
        key = naming.key_of(name)
        if key is None or present.value is None:
            continue
        try:
            if checked_name(key, field="secretName") != key:
                invalid.append(name)
        except SchemaViolationError:
            invalid.append(name)
        found[key] = present.value
    if invalid:
        named = ", ".join(f"'{name}'" for name in invalid[:_NAMED_MAX])
        more = f" and {len(invalid) - _NAMED_MAX} more" if len(invalid) > _NAMED_MAX else ""
        raise InvalidError(
            f"Found {len(invalid)} invalid secret name(s) at the destination: {named}{more}. A name is not "
            "empty, has no colon, slash or NUL, and no white space around it; rename them there, or set a key schema"
        )
    return found


def taken(found: Mapping[str, str], present: Mapping[str, str], behavior: ImportBehavior) -> dict[str, str]:
    """Return the values to store.

    Args:
        found: what the destination holds, by key.
        present: what the source has, imports included and references replaced.
        behavior: which side wins where both have a value.
    """
    stored: dict[str, str] = {}
    for key, value in found.items():
        is_better = behavior is ImportBehavior.PRIORITIZE_DESTINATION and value != ""
        if key not in present or (is_better and checked_value(value) != present[key]):
            stored[key] = value
    return stored


async def take_in(
    unit: UnitOfWork,
    writing: SecretWriting,
    sync: SecretSync,
    found: Mapping[str, str],
    behavior: ImportBehavior,
) -> frozenset[str]:
    """Store what the source lacks, and what differs if the destination wins; return the stored keys as found.

    Called within a writing unit, so that nobody else changes the folder meanwhile.

    Raises:
        DomainError: the folder is gone, or a name or value can't be stored; the text names the secret.
    """
    at = folder_of(sync)
    await unit.move_project(sync.record.project_id)
    access = await access_of(unit, sync)
    require_may_import(access, Where(at.environment, at.path), behavior)
    present = (await read_source(unit, sync, with_metadata=False)).values
    values: dict[str, str] = {}
    taken_keys: set[str] = set()
    for found_key, value in found.items():
        key = found_key.upper() if access.project.auto_capitalization else found_key
        try:
            if stored := taken({key: value}, present, behavior):
                if key not in present:
                    checked_new_name(key, field="secretName")
                checked_value(value)
                values.update(stored)
                taken_keys.add(found_key)
        except DomainError as error:
            raise InvalidError(f"The secret '{key}' can't be imported: {error.message}") from error
    if values:
        await writing.take_in(unit, access, at, values)
    return frozenset(taken_keys)
