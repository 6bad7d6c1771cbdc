"""Requests about secret syncs, as the domain takes them."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.unchanged import UNCHANGED, Unchanged
from keybearer.wire.destination_forms import DestinationConfig, SyncOptions

__all__ = ["UNCHANGED", "DestinationCheck", "NewSync", "SyncChange", "Unchanged"]


@dataclass(frozen=True, slots=True)
class NewSync:
    """A sync to create; options and configuration have the classes of the destination."""

    name: str
    description: str | None
    project_id: str
    connection_id: str
    environment: EnvironmentSlug
    path: FolderPath
    is_auto_sync_enabled: bool
    options: SyncOptions
    config: DestinationConfig


@dataclass(frozen=True, slots=True)
class SyncChange:
    """A change of a sync; None leaves a field as it is."""

    name: str | None = None
    description: str | Unchanged | None = UNCHANGED
    connection_id: str | None = None
    environment: EnvironmentSlug | None = None
    path: FolderPath | None = None
    is_auto_sync_enabled: bool | None = None
    options: SyncOptions | None = None
    config: DestinationConfig | None = None

    @property
    def touches_pushing(self) -> bool:
        """Whether it changes what is pushed, where, or how."""
        given = (self.connection_id, self.environment, self.path, self.options, self.config)
        return any(one is not None for one in given)


@dataclass(frozen=True, slots=True)
class DestinationCheck:
    """A place to check for other syncs before one is created.

    Attributes:
        excluded_sync_id: a sync that doesn't count, because it is being changed.
        connection_id: only syncs over this connection count; None for any connection.
    """

    project_id: str
    config: DestinationConfig
    excluded_sync_id: str | None = None
    connection_id: str | None = None
