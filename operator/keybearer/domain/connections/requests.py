"""What connections are asked to be made of, and to become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keybearer.destinations.app import App
from keybearer.domain.connections.rotation_terms import NEVER, Terms
from keybearer.domain.unchanged import UNCHANGED, Unchanged
from keybearer.wire.credentials import Credentials

__all__ = ["AllowedUseChange", "AppConnectionChange", "NewAppConnection"]


@dataclass(frozen=True, slots=True)
class NewAppConnection:
    """What a connection is made of; without a project it is of the organization."""

    app: App
    method: str
    name: str
    description: str | None
    project_id: str | None
    credentials: Credentials = field(repr=False)
    rotation: Terms = NEVER


@dataclass(frozen=True, slots=True)
class AppConnectionChange:
    """What changes; None leaves a field as it is.

    Attributes:
        description: within a tuple, as it may be set to None.
        credentials: by the methods that they fit.
        is_auto_rotation_enabled: whether they are to be made anew by themselves.
        rotation: when.
    """

    name: str | None = None
    description: tuple[str | None] | None = None
    credentials: Mapping[str, Credentials] | None = field(default=None, repr=False)
    is_auto_rotation_enabled: bool | None = None
    rotation: Terms | None = None


@dataclass(frozen=True, slots=True)
class AllowedUseChange:
    """What a connection is to allow: lists as `AppConnection` has them."""

    project_ids: tuple[str, ...] | Unchanged | None = UNCHANGED
    places: tuple[str, ...] | Unchanged | None = UNCHANGED
