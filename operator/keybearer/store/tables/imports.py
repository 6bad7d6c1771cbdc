"""What folders import from others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import Boolean, ForeignKey, Index, Integer

from keybearer.base.ids import FolderPath
from keybearer.store.columns import Instant, OrderedText, Uuid
from keybearer.store.record_tables import PRIMARY, table_of

__all__ = ["IMPORTS", "SecretImport"]


@dataclass(frozen=True, slots=True)
class SecretImport:
    """A folder shows the secrets of another place; `position` counts from 1, the last one wins.

    The place is named, not linked: a folder that is deleted and made again is imported again.
    """

    id: Annotated[str, Uuid, PRIMARY]
    folder_id: Annotated[str, Uuid, ForeignKey("folders.id", ondelete="CASCADE")]
    environment_id: Annotated[str, Uuid, ForeignKey("environments.id", ondelete="CASCADE")]
    path: Annotated[FolderPath, OrderedText]
    position: Annotated[int, Integer]
    is_replication: Annotated[bool, Boolean]
    version: Annotated[int, Integer]
    created_at: Annotated[datetime, Instant]
    updated_at: Annotated[datetime, Instant]


# Who imports from a place is asked when something changes there.
IMPORTS = table_of(
    SecretImport, "secret_imports", Index(None, "folder_id"), Index(None, "environment_id", "path")
)
