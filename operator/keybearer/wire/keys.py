"""Keys of the service on the wire: ids and states, never a key. An addition of ours to the interface."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from keybearer.wire.base import WireInstant, WireModel

__all__ = [
    "CredentialRotationModel",
    "DataKeyRotationModel",
    "KeyStatusModel",
    "RootKeyModel",
    "RotateDataKeys",
    "RotatedDataKeys",
    "RotatedRootKey",
]


class RootKeyModel(WireModel):
    """A root key that wrapped here at some time; `wraps` counts the keys that only it can open."""

    id: str
    state: Literal["active", "retiring", "retired"]
    activated_at: WireInstant
    retired_at: WireInstant | None
    wraps: int


class DataKeyRotationModel(WireModel):
    """A project whose values are being sealed anew; `resealed` counts those that were."""

    project_id: str
    started_at: WireInstant
    resealed: int


class CredentialRotationModel(WireModel):
    """Credentials of Kubernetes and LDAP auth that are being sealed anew; `remaining` of them still are to be."""

    started_at: WireInstant
    remaining: int


class KeyStatusModel(WireModel):
    """How keys stand.

    `firstRootKeyId` is the root key that stands first where the process asked finds them, `heldRootKeyIds` are all
    that it holds; `lackingProcesses` of the `processes` don't hold the first one.
    """

    first_root_key_id: str
    held_root_key_ids: list[str]
    root_keys: list[RootKeyModel]
    processes: int
    lacking_processes: int
    data_keys: int
    rotations: list[DataKeyRotationModel]
    credential_rotation: CredentialRotationModel | None = None


class RotatedRootKey(WireModel):
    """The root key that wraps from now on."""

    root_key_id: str


class RotateDataKeys(WireModel):
    """Whose data key is to be rotated: one project's, or without one those of all projects and of auth methods."""

    project_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None


class RotatedDataKeys(WireModel):
    """The projects whose values are being sealed anew."""

    project_ids: list[str]
