"""Rows of secrets and of their versions: opened when they are read, sealed when they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Row as Result

from keybearer.store.records import Secret, Tag
from keybearer.store.sealing.envelope import HEADER_BYTES, KeyName, SealingKey, key_name_of
from keybearer.store.secret_codec import Sealed, open_details, open_value, reseal, seal_details, seal_value

__all__ = ["former_of", "key_names", "moved_row", "row_of", "secret_of", "version_of"]


def key_names(envelopes: Iterable[tuple[bytes | None, bytes | None]]) -> set[KeyName]:
    """Return the keys that these envelopes, of a value and of details, need."""
    names: set[KeyName] = set()
    headers: set[bytes] = set()
    for pair in envelopes:
        for envelope in pair:
            if envelope is not None and envelope[:HEADER_BYTES] not in headers:
                names.add(key_name_of(envelope))
                headers.add(envelope[:HEADER_BYTES])
    return names


def secret_of(
    row: Result[*tuple[Any, ...]],
    keys: Mapping[KeyName, SealingKey],
    tags: tuple[Tag, ...],
    *,
    with_values: bool,
) -> Secret:
    """Return the secret of a row that `rows_of` selects.

    Raises:
        UnsealError: an envelope was changed, or belongs to another record.
    """
    (
        secret_id,
        project_id,
        folder_id,
        environment,
        path,
        name,
        owner,
        version,
        value,
        details,
        _,
        skip_multiline_encoding,
        created_at,
        updated_at,
        *_,
    ) = row
    sealed = Sealed(project_id, secret_id, version, folder_id, name)
    return Secret(
        id=secret_id,
        project_id=project_id,
        folder_id=folder_id,
        environment=environment,
        path=path,
        key=name,
        owner=owner,
        version=version,
        value=open_value(keys, sealed, value) if with_values else None,
        details=open_details(keys, sealed, details),
        skip_multiline_encoding=skip_multiline_encoding,
        created_at=created_at,
        updated_at=updated_at,
        tags=tags,
    )


def former_of(row: Result[*tuple[Any, ...]], keys: Mapping[KeyName, SealingKey], secret: Secret) -> Secret:
    """Return the secret as it was at the version of this row.

    Raises:
        UnsealError: an envelope was changed, or belongs to another record.
    """
    # A row without a folder was sealed by an earlier version, which bound no folder.
    sealed = Sealed(secret.project_id, secret.id, row.version, row.folder_id or "", row.key)
    return replace(
        secret,
        key=row.key,
        version=row.version,
        value=open_value(keys, sealed, row.value),
        details=open_details(keys, sealed, row.details),
        skip_multiline_encoding=row.skip_multiline_encoding,
        updated_at=row.updated_at,
    )


def row_of(secret: Secret, key: SealingKey) -> dict[str, object]:
    """Return the row of a secret, sealed with this key."""
    sealed = Sealed(secret.project_id, secret.id, secret.version, secret.folder_id, secret.key)
    return {
        "id": secret.id,
        "project_id": secret.project_id,
        "folder_id": secret.folder_id,
        "key": secret.key,
        "owner": secret.owner,
        "version": secret.version,
        "value": seal_value(key, sealed, secret.value or ""),
        "details": seal_details(key, sealed, secret.details),
        "skip_multiline_encoding": secret.skip_multiline_encoding,
        "created_at": secret.created_at,
        "updated_at": secret.updated_at,
    }


def moved_row(
    keys: Mapping[KeyName, SealingKey], key: SealingKey, row: Result[*tuple[Any, ...]], to: Secret
) -> dict[str, object]:
    """Return the changed columns of a row that `rows_of` selects, for the key and folder of another secret.

    Raises:
        UnsealError: an envelope was changed, or belongs to another record.
    """
    former = Sealed(row.project_id, row.id, row.version, row.folder_id, row.key)
    now = former._replace(folder_id=to.folder_id, key=to.key)
    value, details = reseal(keys, key, former, row.value, row.details, now=now)
    return {"folder_id": to.folder_id, "key": to.key, "value": value, "details": details}


def version_of(row: dict[str, object]) -> dict[str, object]:
    """Return the row of the version that the secret of this row is at."""
    kept = ("version", "folder_id", "key", "value", "details", "skip_multiline_encoding", "updated_at")
    return {"secret_id": row["id"], **{name: row[name] for name in kept}}
