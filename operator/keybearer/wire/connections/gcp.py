"""The app `gcp`: a service account that the service's own one may impersonate (the published service's words)."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints, model_validator

from keybearer.wire.base import Confidential
from keybearer.wire.connections.base import AppModel, Credentials, MethodModel

__all__ = ["GCP", "ImpersonationCredentials", "OwnAccountCredentials"]

_EMAIL_MAX = 254
_KEY_MAX = 16_384
_KEY_ID_MAX = 128
_FILE_FIELDS = {"client_email": "clientEmail", "private_key": "privateKey", "private_key_id": "privateKeyId"}

_Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        min_length=3,
        max_length=_EMAIL_MAX,
        pattern=r"^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$",
    ),
]


class ImpersonationCredentials(Credentials):
    """Whom to impersonate. That the account is the organization's shows in its name."""

    service_account_email: _Email


class OwnAccountCredentials(Credentials):
    """The key of the service's own account. The file that Google hands out is taken as it is."""

    client_email: _Email
    private_key: Annotated[
        Confidential,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=_KEY_MAX, pattern=r"\S"),
    ]
    private_key_id: Annotated[str, StringConstraints(max_length=_KEY_ID_MAX)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_file(cls, given: object) -> object:
        if isinstance(given, dict) and given.get("type") == "service_account":
            # Where tokens are got is not the file's to say: the key's signature would go anywhere.
            return {name: given[field] for field, name in _FILE_FIELDS.items() if field in given}
        return given


GCP = AppModel(
    "gcp",
    "GCP",
    {"service-account-impersonation": MethodModel(ImpersonationCredentials)},
    own=OwnAccountCredentials,
)
