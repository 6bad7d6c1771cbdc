"""The status of an AppConnection: what the service holds, and whether the app takes it. No credentials, ever."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import Condition, ResourceModel, StatusModel
from keybearer.controllers.resource_fields import Clipped, Instant

__all__ = ["AppConnectionStatus", "RotationStatus"]


class RotationStatus(ResourceModel):
    """The rotation as the service tells of it."""

    status: Annotated[
        str | None, Field(max_length=64, description="How the last one ended: success or failed.")
    ] = None
    message: Annotated[str | None, *Clipped(1024), Field(description="What the service says of it.")] = None
    next_rotation_at: Annotated[Instant | None, Field(description="When the next one is due.")] = None


class AppConnectionStatus(StatusModel):
    """The operator's last actions and observations."""

    conditions: Annotated[
        tuple[Condition, ...],
        Field(
            strict=False,
            max_length=16,
            description="Ready, Reconciling and Stalled (kstatus).",
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
    ] = ()
    id: Annotated[str | None, Field(max_length=64, description="The id in the service.")] = None
    app: Annotated[str | None, Field(max_length=64, description="The app that it was made for.")] = None
    method: Annotated[str | None, Field(max_length=64, description="The method that it has.")] = None
    version: Annotated[int | None, Field(ge=0, description="Counts its changes in the service.")] = None
    credentials_hash: Annotated[
        str | None,
        Field(
            max_length=128,
            description="The service's hash of the stored credentials. Another hash means a change.",
        ),
    ] = None
    fingerprint: Annotated[
        str | None,
        Field(
            max_length=128,
            description="Keyed HMAC of the last credentials, useless for guessing them.",
        ),
    ] = None
    rotation: Annotated[RotationStatus | None, Field(description="The rotation, where there is one.")] = None
