"""Marks of secrets: the parts of a secret's row that its folder's sum covers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy import Row as Result

from keybearer.base.ids import ProjectId
from keybearer.store.columns import milliseconds
from keybearer.store.records import Secret, SecretDetails
from keybearer.store.sealing.envelope import SealingKey
from keybearer.store.tables.projects import EnvironmentRow, FolderRow
from keybearer.store.tables.secrets import SecretRow

__all__ = [
    "DETAILS",
    "FOLDER_ID",
    "HAS_TAGS",
    "HEADS",
    "KEY",
    "LISTED_COLUMNS",
    "OWNER",
    "PROJECT_ID",
    "VALUE",
    "Head",
    "head_of",
    "heads_where",
    "marks_of",
    "marks_of_listed",
]

_NOTHING = SecretDetails()


class Head(NamedTuple):
    """The columns of a secret's present version that aren't sealed; its mark covers them."""

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


LISTED_COLUMNS = (
    SecretRow.id,
    SecretRow.project_id,
    SecretRow.folder_id,
    EnvironmentRow.slug.label("environment"),
    FolderRow.path,
    SecretRow.key,
    SecretRow.owner,
    SecretRow.version,
    SecretRow.value,
    SecretRow.details,
    SecretRow.details.is_not(None).label("has_details"),
    SecretRow.skip_multiline_encoding,
    SecretRow.created_at,
    SecretRow.updated_at,
)
"""The columns that begin a row which is opened; they are read by index, which is quicker than by name."""

_Row = Result[*tuple[Any, ...]]
PROJECT_ID, FOLDER_ID, KEY, OWNER, VALUE, DETAILS, HAS_TAGS = 1, 2, 5, 6, 8, 9, 14
"""Indexes of `LISTED_COLUMNS`; the column that says whether the project has tags follows them."""
# Id, folder, owner, version, whether it has details, multiline encoding, time of the change, key.
_OF_HEAD = itemgetter(1, 2, 4, 5, 6, 7, 8, 3)
_OF_LISTED = itemgetter(0, 2, 6, 7, 10, 11, 13, 5)


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


def marks_of(key: SealingKey, heads: Iterable[Head | _Row]) -> list[int]:
    """Return the marks of these heads, or rows of `HEADS`."""
    return _marks(key, map(_OF_HEAD, heads))


def marks_of_listed(key: SealingKey, rows: Iterable[_Row]) -> list[int]:
    """Return the marks of rows that begin with `LISTED_COLUMNS`."""
    return _marks(key, map(_OF_LISTED, rows))


def _marks(key: SealingKey, marked: Iterable[tuple[Any, ...]]) -> list[int]:
    # Only the key can hold spaces, and it is last: no two rows make the same text.
    return key.marks(
        [
            (
                f"secret {secret_id} {folder_id} {owner} {version} {has_details:d} {skips} "
                f"{milliseconds(at)} {name}"
            ).encode()
            for secret_id, folder_id, owner, version, has_details, skips, at, name in marked
        ]
    )
