"""The app `azure-key-vault`: an app registration, by a client secret (the published service's words)."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from keybearer.wire.base import Confidential
from keybearer.wire.connections.base import AppModel, Credentials, MethodModel, ShownCredentials

__all__ = ["AZURE_KEY_VAULT", "ClientSecretCredentials"]

_SECRET_MAX = 256
_UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"

_Uuid = Annotated[str, StringConstraints(strip_whitespace=True, pattern=_UUID)]


class ClientSecretCredentials(Credentials):
    """A client secret, which is not renewed here."""

    tenant_id: _Uuid
    client_id: _Uuid
    client_secret: Annotated[
        Confidential,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=_SECRET_MAX, pattern=r"\S"),
    ]


class _Shown(ShownCredentials):
    """All but the secret."""

    tenant_id: str
    client_id: str


AZURE_KEY_VAULT = AppModel(
    "azure-key-vault", "Azure Key Vault", {"client-secret": MethodModel(ClientSecretCredentials, _Shown)}
)
