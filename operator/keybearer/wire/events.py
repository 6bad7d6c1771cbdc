"""The event stream: what a subscription asks for (wire.md section 7)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from keybearer.wire.bodies import BodyModel
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX, EVENT_REGISTRATIONS_MAX, FOLDER_PATH_MAX

__all__ = [
    "EVENT_STREAM_PATH",
    "EventConditions",
    "EventRegistration",
    "EventType",
    "SubscribeToEvents",
]

EVENT_STREAM_PATH = "/api/v1/events/subscribe/project-events"


class EventType(StrEnum):
    """What may be subscribed to."""

    SECRET_CREATE = "secret:create"
    SECRET_UPDATE = "secret:update"
    SECRET_DELETE = "secret:delete"
    IMPORT_MUTATION = "secret:import-mutation"


class EventConditions(BodyModel):
    """Where a change must happen: in the folder or under it."""

    environment_slug: Annotated[str, Field(min_length=1, max_length=ENVIRONMENT_SLUG_MAX)]
    secret_path: Annotated[str, Field(max_length=FOLDER_PATH_MAX)] = "/"


class EventRegistration(BodyModel):
    """One kind of event; without conditions anywhere in the project."""

    event: EventType
    conditions: EventConditions | None = None


class SubscribeToEvents(BodyModel):
    """The body of a subscription."""

    project_id: Annotated[str, Field(min_length=1)]
    registrations: Annotated[
        tuple[EventRegistration, ...],
        Field(alias="register", min_length=1, max_length=EVENT_REGISTRATIONS_MAX),
    ]
