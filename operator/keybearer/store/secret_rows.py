"""Rows of secrets and of their versions: opened when they are read, sealed when they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Row as Result

from keybearer.base.ids import ProjectId
from keybearer.store.many_rows import ManyRows
from keybearer.store.records import Secret
from keybearer.store.sealing.envelope import HEADER_BYTES, KeyName, SealingKey, key_name_of
from keybearer.store.secret_codec import Sealed, open_details, open_value, reseal, seal_details, seal_value
from keybearer.store.tables.secrets import SecretRow, SecretVersionRow
from keybearer.store.tags import Tag

__all__ = [
    "SECRET_ROWS",
    "VERSION_ROWS",
    "SecretRecord",
    "VersionRecord",
    "former_of",
    "key_names",
    "moved_row",
    "record_of",
    "secret_of",
    "version_of",
]


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
    """Return the secret of a row that begins with `LISTED_COLUMNS`.

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


@dataclass(frozen=True, slots=True)
class SecretRecord:
    """A row of `secrets`."""

    id: str
    project_id: ProjectId
    folder_id: str
    key: str
    owner: str
    version: int
    value: bytes = field(repr=False)
    details: bytes | None = field(repr=False)
    skip_multiline_encoding: bool | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """A row of `secret_versions`."""

    secret_id: str
    version: int
    folder_id: str
    key: str
    value: bytes = field(repr=False)
    details: bytes | None = field(repr=False)
    skip_multiline_encoding: bool | None
    updated_at: datetime


SECRET_ROWS = ManyRows(SecretRow, SecretRecord)
VERSION_ROWS = ManyRows(SecretVersionRow, VersionRecord)


def record_of(secret: Secret, key: SealingKey) -> SecretRecord:
    """Return the row of a secret, sealed with this key."""
    sealed = Sealed(secret.project_id, secret.id, secret.version, secret.folder_id, secret.key)
    return SecretRecord(
        secret.id,
        secret.project_id,
        secret.folder_id,
        secret.key,
        secret.owner,
        secret.version,
        seal_value(key, sealed, secret.value or ""),
        seal_details(key, sealed, secret.details),
        secret.skip_multiline_encoding,
        secret.created_at,
        secret.updated_at,
    )


def moved_row(
    keys: Mapping[KeyName, SealingKey], key: SealingKey, row: Result[*tuple[Any, ...]], to: Secret
) -> dict[str, object]:
    """Return the changed columns of a row that begins with `LISTED_COLUMNS`, with another secret's key and folder.

    Raises:
        UnsealError: an envelope was changed, or belongs to another record.
    """
    former = Sealed(row.project_id, row.id, row.version, row.folder_id, row.key)
    now = former._replace(folder_id=to.folder_id, key=to.key)
    value, details = reseal(keys, key, former, row.value, row.details, now=now)
    return {"folder_id": to.folder_id, "key": to.key, "value": value, "details": details}


def version_of(record: SecretRecord) -> VersionRecord:
    """Return the row of the version that the secret of this row is at."""
    return VersionRecord(
        record.id,
        record.version,
        record.folder_id,
        record.key,
        record.value,
        record.details,
        record.skip_multiline_encoding,
        record.updated_at,
    )
