"""Secret syncs: what goes where, the jobs that carry it there, and what is known to have arrived."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Boolean, ForeignKey, Index, Integer, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from keybearer.store.columns import Instant, Uuid
from keybearer.store.tables.base import Row

__all__ = ["FormerPlaceRow", "FormerPushRow", "PushRow", "SecretSyncRow", "SyncJobRow", "SyncNameRow"]


class SecretSyncRow(Row):
    """A sync of one folder to one destination; the folder is null once it is gone.

    `destination_digest` is the same for two syncs to the same place. `source_digest` is a keyed digest of what the
    last settled run carried, and `reached` the revision of each project that this was read from, so that a change
    nobody was told of is found. `is_settled` says that the ledger tells all that the remote holds of ours: no run was
    cut off. `unpushed_since` is when the oldest change came that isn't pushed yet, and `unpushed_keys` how many names
    the last run had still to write or remove. `owner_id` is of the identity whose rights it reads and writes with; it
    refers to nothing, so that what it was is known when the identity is gone.
    """

    __tablename__ = "secret_syncs"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        Index("ix_secret_syncs_destination_unpushed", "destination", "unpushed_since", "unpushed_keys"),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    project_id: Mapped[str] = mapped_column(Uuid, ForeignKey("projects.id", ondelete="CASCADE"))
    folder_id: Mapped[str | None] = mapped_column(
        Uuid, ForeignKey("folders.id", ondelete="SET NULL"), index=True
    )
    # No cascade: a connection that syncs use is not deleted.
    connection_id: Mapped[str] = mapped_column(Uuid, ForeignKey("app_connections.id"), index=True)
    name: Mapped[str] = mapped_column(String(256))
    description: Mapped[str | None] = mapped_column(Text)
    is_auto_sync_enabled: Mapped[bool] = mapped_column(Boolean)
    version: Mapped[int] = mapped_column(Integer)
    destination: Mapped[str] = mapped_column(String(64))
    destination_config: Mapped[dict[str, Any]] = mapped_column(JSON)
    destination_digest: Mapped[str] = mapped_column(String(64), index=True)
    sync_options: Mapped[dict[str, Any]] = mapped_column(JSON)
    sync_status: Mapped[str | None] = mapped_column(String(16))
    last_sync_job_id: Mapped[str | None] = mapped_column(Uuid)
    last_sync_message: Mapped[str | None] = mapped_column(Text)
    last_synced_at: Mapped[datetime | None] = mapped_column(Instant)
    import_status: Mapped[str | None] = mapped_column(String(16))
    last_import_job_id: Mapped[str | None] = mapped_column(Uuid)
    last_import_message: Mapped[str | None] = mapped_column(Text)
    last_imported_at: Mapped[datetime | None] = mapped_column(Instant)
    remove_status: Mapped[str | None] = mapped_column(String(16))
    last_remove_job_id: Mapped[str | None] = mapped_column(Uuid)
    last_remove_message: Mapped[str | None] = mapped_column(Text)
    last_removed_at: Mapped[datetime | None] = mapped_column(Instant)
    source_digest: Mapped[bytes | None] = mapped_column(LargeBinary)
    reached: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    is_settled: Mapped[bool] = mapped_column(Boolean)
    listed_at: Mapped[datetime | None] = mapped_column(Instant)
    unpushed_since: Mapped[datetime | None] = mapped_column(Instant)
    unpushed_keys: Mapped[int] = mapped_column(Integer, default=0)
    owner_id: Mapped[str | None] = mapped_column(Uuid, index=True)
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class SyncJobRow(Row):
    """A job that waits or runs; a finished one is gone.

    One waits per sync and kind, so that many changes become one run; another may run meanwhile. `claimed_by` names
    the process that runs it, which must say so again before `lease_ends_at`. `parked_until` is how long the remote
    asked to wait, `hastened_at` when a success of another sync last made it due, and `is_urgent` that people or new
    credentials want it now.
    """

    __tablename__ = "sync_jobs"
    __table_args__ = (
        UniqueConstraint("sync_id", "kind", "is_running"),
        Index("ix_sync_jobs_is_running_due_at", "is_running", "due_at"),
    )

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    sync_id: Mapped[str] = mapped_column(Uuid, ForeignKey("secret_syncs.id", ondelete="CASCADE"))
    connection_id: Mapped[str] = mapped_column(Uuid)
    kind: Mapped[str] = mapped_column(String(16))
    is_running: Mapped[bool] = mapped_column(Boolean)
    attempt: Mapped[int] = mapped_column(Integer)
    parameters: Mapped[dict[str, Any]] = mapped_column(JSON)
    due_at: Mapped[datetime] = mapped_column(Instant)
    claimed_by: Mapped[str | None] = mapped_column(Uuid)
    lease_ends_at: Mapped[datetime | None] = mapped_column(Instant)
    created_at: Mapped[datetime] = mapped_column(Instant)
    parked_until: Mapped[datetime | None] = mapped_column(Instant)
    hastened_at: Mapped[datetime | None] = mapped_column(Instant)
    is_urgent: Mapped[bool] = mapped_column(Boolean)


class PushRow(Row):
    """The push ledger: what was written last under a name of the remote, as a keyed digest, never the value."""

    __tablename__ = "sync_pushes"

    sync_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("secret_syncs.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    remote_version: Mapped[str | None] = mapped_column(Text)


class SyncNameRow(Row):
    """A name at the remote that isn't as wanted: it failed, or the last look found it to be others'."""

    __tablename__ = "sync_names"

    sync_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("secret_syncs.id", ondelete="CASCADE"), primary_key=True
    )
    state: Mapped[str] = mapped_column(String(16), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    message: Mapped[str | None] = mapped_column(Text)
    noted_at: Mapped[datetime] = mapped_column(Instant)


class FormerPlaceRow(Row):
    """A place that a sync wrote to before it was set up otherwise, with what is needed to remove that again.

    `environment` is the slug that its key schema was filled with. `is_apart` says that it is known not to be the
    sync's present place under another description. `attempts` counts the tries to remove what is there, and `message`
    says why the last one failed.
    """

    __tablename__ = "sync_former_places"

    id: Mapped[str] = mapped_column(Uuid, primary_key=True)
    sync_id: Mapped[str] = mapped_column(Uuid, ForeignKey("secret_syncs.id", ondelete="CASCADE"), index=True)
    # A connection that is still needed is not deleted, but with its project: that comes to it before it comes here.
    connection_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("app_connections.id", ondelete="CASCADE"), index=True
    )
    destination_config: Mapped[dict[str, Any]] = mapped_column(JSON)
    destination_digest: Mapped[str] = mapped_column(String(64))
    sync_options: Mapped[dict[str, Any]] = mapped_column(JSON)
    environment: Mapped[str | None] = mapped_column(String(64))
    is_apart: Mapped[bool] = mapped_column(Boolean)
    attempts: Mapped[int] = mapped_column(Integer)
    next_attempt_at: Mapped[datetime] = mapped_column(Instant)
    message: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Instant)


class FormerPushRow(Row):
    """A row of the ledger, as it was when its sync left that place."""

    __tablename__ = "sync_former_pushes"

    place_id: Mapped[str] = mapped_column(
        Uuid, ForeignKey("sync_former_places.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    remote_version: Mapped[str | None] = mapped_column(Text)
