"""Marks of secrets: what of a secret's row is held in its folder's sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Select, select

from keybearer.base.ids import ProjectId
from keybearer.store.columns import milliseconds
from keybearer.store.records import Secret, SecretDetails
from keybearer.store.sealing.envelope import SealingKey
from keybearer.store.tables.secrets import SecretRow

__all__ = ["HEADS", "Head", "MarkedRow", "head_of", "heads_where", "mark_of", "marks_of"]

_NOTHING = SecretDetails()


class MarkedRow(Protocol):
    """What a row has that a mark is made of; rows of secrets are read with these and more."""

    id: str
    folder_id: str
    key: str
    owner: str
    version: int
    has_details: bool
    skip_multiline_encoding: bool | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Head:
    """The present version of a secret without what is sealed."""

    project_id: ProjectId
    id: str
    folder_id: str
    key: str
    owner: str
    version: int
    has_details: bool
    skip_multiline_encoding: bool | None
    updated_at: datetime


HEADS = (
    SecretRow.project_id,
    SecretRow.id,
    SecretRow.folder_id,
    SecretRow.key,
    SecretRow.owner,
    SecretRow.version,
    SecretRow.details.is_not(None).label("has_details"),
    SecretRow.skip_multiline_encoding,
    SecretRow.updated_at,
)
"""Columns in the order of the fields of `Head`."""


def heads_where(*conditions: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Select the heads that all the conditions find."""
    return select(*HEADS).where(*conditions)


def head_of(secret: Secret) -> Head:
    """Return the head of the row that a secret is stored as."""
    return Head(
        secret.project_id,
        secret.id,
        secret.folder_id,
        secret.key,
        secret.owner,
        secret.version,
        secret.details != _NOTHING,
        secret.skip_multiline_encoding,
        secret.updated_at,
    )


def mark_of(key: SealingKey, row: MarkedRow | Head) -> int:
    """Return the mark of a secret's row."""
    # Only the key, at the end, may hold anything.
    text = (
        f"secret {row.id} {row.folder_id} {row.owner} {row.version} {bool(row.has_details):d} "
        f"{row.skip_multiline_encoding} {milliseconds(row.updated_at)} {row.key}"
    )
    return key.mark(text.encode())


def marks_of(key: SealingKey, rows: Iterable[MarkedRow | Head]) -> Iterable[int]:
    """Return the marks of these rows."""
    return (mark_of(key, row) for row in rows)
