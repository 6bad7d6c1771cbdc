"""The app `hashicorp-vault`: any server that speaks the API of HashiCorp Vault."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from keybearer.wire.base import Confidential
from keybearer.wire.connections.base import AppModel, Credentials, MethodModel, ShownCredentials
from keybearer.wire.instance_url import InstanceUrl
from keybearer.wire.strict import EmptyIsAbsent

__all__ = ["HASHICORP_VAULT", "AccessTokenCredentials", "AppRoleCredentials", "VaultCredentials"]

_CREDENTIAL_MAX = 4096
_NAMESPACE_MAX = 512

_Trimmed = StringConstraints(strip_whitespace=True, min_length=1, max_length=_CREDENTIAL_MAX, pattern=r"\S")


def _namespace(text: str) -> str:
    return text.strip("/")


Namespace = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=_NAMESPACE_MAX, pattern=r"^[!-~]*$"),
    AfterValidator(_namespace),
]


class VaultCredentials(Credentials):
    """What both methods share."""

    instance_url: InstanceUrl
    namespace: Annotated[Namespace | None, EmptyIsAbsent] = None


class AccessTokenCredentials(VaultCredentials):
    """A token of the server, which is not renewed here."""

    access_token: Annotated[Confidential, _Trimmed]


class AppRoleCredentials(VaultCredentials):
    """A role's pair of ids, with the method mounted at its usual place, `approle`."""

    role_id: Annotated[str, _Trimmed]
    secret_id: Annotated[Confidential, _Trimmed]


class ShownAccessToken(ShownCredentials):
    """What is answered of a token: where it is good."""

    instance_url: str
    namespace: str | None = None


class ShownAppRole(ShownAccessToken):
    """What is answered of a role."""

    role_id: str


HASHICORP_VAULT = AppModel(
    "hashicorp-vault",
    "Hashicorp Vault",
    {
        "access-token": MethodModel(AccessTokenCredentials, ShownAccessToken),
        "app-role": MethodModel(AppRoleCredentials, ShownAppRole),
    },
)
