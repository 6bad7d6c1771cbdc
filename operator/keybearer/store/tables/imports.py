"""What folders import from others."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, OrderedText, Uuid
from keybearer.store.tables.base import Row

__all__ = ["SecretImportRow"]


class SecretImportRow(Row):
    """A folder shows the secrets of another place; `position` counts from 1, the last one wins.

    The place is named, not linked: a folder that is deleted and made again is imported again.
    """

    __tablename__ = "secret_imports"
    # Who imports from a place is asked when something changes there.
    __table_args__ = (Index(None, "environment_id", "path"),)

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    folder_id: Mapped[str] = mapped_column(Uuid, ForeignKey("folders.id", ondelete="CASCADE"), index=True)
    environment_id: Mapped[str] = mapped_column(Uuid, ForeignKey("environments.id", ondelete="CASCADE"))
    path: Mapped[str] = mapped_column(OrderedText)
    position: Mapped[int] = mapped_column(Integer)
    is_replication: Mapped[bool] = mapped_column(Boolean)
    version: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)
