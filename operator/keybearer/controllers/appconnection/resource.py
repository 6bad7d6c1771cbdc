"""The custom resource AppConnection: its spec as users write it, and its CRD (interface.md section 2.3)."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from keybearer.controllers.appconnection.status import AppConnectionStatus
from keybearer.controllers.catalogue_texts import told, told_apps, told_credentials, told_methods
from keybearer.controllers.custom_resource import (
    AGE_COLUMN,
    REASON_COLUMN,
    CustomResource,
    PrinterColumn,
    ResourceModel,
    RuledModel,
    SpecModel,
    ready_column,
    rule,
)
from keybearer.controllers.identity_ref import IdentityRef
from keybearer.controllers.secret_key_ref import SecretKeyRef

__all__ = [
    "APP_CONNECTION",
    "DESCRIPTION_MAX",
    "AppConnectionSpec",
    "CredentialSource",
    "RemoteDeletionPolicy",
    "RotateAtUtc",
    "Rotation",
]

DESCRIPTION_MAX = 200
"""The service takes 256 characters; the rest is the mark that says whose connection it is."""

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")
_SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_WORD = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class ValueFrom(ResourceModel):
    """Where a credential is kept."""

    secret_key_ref: Annotated[SecretKeyRef, Field(description="A key of a Secret in the same namespace.")]


class CredentialSource(RuledModel):
    """One field of the credentials: written here if it is no secret, taken from a Secret if it is."""

    value: Annotated[
        str | None,
        Field(max_length=4096, description="The text itself. Refused for fields that the app keeps secret."),
    ] = None
    value_from: Annotated[ValueFrom | None, Field(description="Where it is kept.")] = None

    @rule(cel="has(self.value) != has(self.valueFrom)", message="give exactly one of value and valueFrom")
    def _has_one_form(self) -> bool:
        return (self.value is None) != (self.value_from is None)


class RotateAtUtc(ResourceModel):
    """A time of the day in UTC."""

    hours: Annotated[int, Field(ge=0, le=23, description="The hour.")]
    minutes: Annotated[int, Field(ge=0, le=59, description="The minute.")]


class Rotation(ResourceModel):
    """When the service makes the credentials anew by itself, for apps where it can."""

    rotation_interval: Annotated[int, Field(ge=1, le=3650, description="Days between two rotations.")]
    rotate_at_utc: Annotated[RotateAtUtc, Field(description="The time of the day.")]


class RemoteDeletionPolicy(StrEnum):
    """What becomes of the connection in the service when the object is deleted."""

    DELETE = "Delete"
    RETAIN = "Retain"


class AppConnectionSpec(SpecModel):
    """A connection of the secrets service to another store."""

    identity_ref: Annotated[
        IdentityRef,
        Field(
            description="The Secret with the credentials of the machine identity that manages the connection."
        ),
    ]
    name: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=64,
            pattern=_SLUG,
            description=(
                "The name in the service: lower-case letters, digits and single hyphens. Without "
                "it, the name of this object."
            ),
        ),
    ] = None
    app: Annotated[
        str,
        told(told_apps, min_length=1, max_length=64, pattern=_WORD),
    ]
    method: Annotated[
        str,
        told(told_methods, min_length=1, max_length=64, pattern=_WORD),
    ]
    credentials: Annotated[
        dict[str, CredentialSource],
        told(told_credentials, max_length=32),
    ] = Field(default_factory=dict)
    description: Annotated[
        str | None, Field(max_length=DESCRIPTION_MAX, description="What it is for, for people.")
    ] = None
    project_id: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=64,
            description="The id of the project that it belongs to. Without a project it belongs to the whole "
            "organization.",
        ),
    ] = None
    project_slug: Annotated[
        str | None,
        Field(min_length=1, max_length=64, pattern=_SLUG, description="The slug of that project instead."),
    ] = None
    rotation: Annotated[
        Rotation | None,
        Field(
            description=(
                "Lets the service replace the credentials automatically. From then on those of "
                "the Secret are used only when they change."
            )
        ),
    ] = None
    adopt: Annotated[
        bool,
        Field(
            description=("Lets this object take over a connection of its name that no other object manages.")
        ),
    ] = False
    on_delete: Annotated[
        RemoteDeletionPolicy,
        Field(
            strict=False,
            description="Deletes or retains the connection in the service when this object is deleted.",
        ),
    ] = RemoteDeletionPolicy.DELETE

    @rule(
        cel="!(has(self.projectId) && has(self.projectSlug))",
        message="give at most one of projectId and projectSlug",
    )
    def _names_one_project(self) -> bool:
        return self.project_id is None or self.project_slug is None

    @rule(
        cel="!has(self.credentials) || self.credentials.all(name, name.matches('^[A-Za-z][A-Za-z0-9]{0,63}$'))",
        message="names of credentials are letters and digits, as the app's method calls them",
    )
    def _has_names_of_fields(self) -> bool:
        return all(_FIELD.fullmatch(name) for name in self.credentials)

    def remote_name(self, own_name: str) -> str:
        """Return the name in the service; `own_name` is the name of the AppConnection."""
        return self.name or own_name


APP_CONNECTION = CustomResource(
    kind="AppConnection",
    plural="appconnections",
    singular="appconnection",
    short_names=("kbac",),
    description="Gives the secrets service access to another store.",
    spec=AppConnectionSpec,
    status=AppConnectionStatus,
    columns=(
        PrinterColumn("App", ".spec.app", description="The app that it leads to."),
        PrinterColumn("Method", ".spec.method", description="How the service authenticates with it."),
        ready_column("The connection is as described, and the app takes it."),
        REASON_COLUMN,
        PrinterColumn(
            "Rotation", ".status.rotation.status", description="How the last rotation ended.", priority=1
        ),
        AGE_COLUMN,
    ),
)
