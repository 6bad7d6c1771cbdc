"""The app `external-infisical`: another server of this API, a second one of ours too."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from keybearer.wire.base import Confidential
from keybearer.wire.connections.base import AppModel, Credentials, MethodModel, ShownCredentials
from keybearer.wire.instance_url import InstanceUrl

__all__ = ["EXTERNAL_INFISICAL", "MachineIdentityCredentials"]

_SECRET_MAX = 512
_UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"


class MachineIdentityCredentials(Credentials):
    """What a machine identity logs in with, by Universal Auth (wire.md section 1.2)."""

    instance_url: InstanceUrl
    machine_identity_client_id: Annotated[str, StringConstraints(strip_whitespace=True, pattern=_UUID)]
    machine_identity_client_secret: Annotated[
        Confidential,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=_SECRET_MAX, pattern=r"\S"),
    ]


class ShownMachineIdentity(ShownCredentials):
    """What is answered of it."""

    instance_url: str
    machine_identity_client_id: str


EXTERNAL_INFISICAL = AppModel(
    "external-infisical",
    "Infisical",
    {"machine-identity": MethodModel(MachineIdentityCredentials, ShownMachineIdentity)},
)
