"""The app `idp`: an identity provider that gives tokens for OAuth 2.0 client credentials (interface.md 2.3)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic.json_schema import WithJsonSchema

from keybearer.wire.base import Confidential
from keybearer.wire.connections.base import AppModel, Credentials, MethodModel, ShownCredentials

__all__ = ["CLIENT_CREDENTIALS", "IDP", "ClientCredentials", "ShownClientCredentials"]

CLIENT_CREDENTIALS = "client-credentials"
_HOST = r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)(:[0-9]{1,5})?$"
_AUDIENCE = r"^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$"


def _trimmed(given: object) -> object:
    return given.strip() if isinstance(given, str) else given


def _host(given: object) -> object:
    trimmed = _trimmed(given)
    if isinstance(trimmed, str) and "/" in trimmed:
        msg = "domain is a host, perhaps with a port, without https:// and without a path"
        raise ValueError(msg)
    return trimmed


_Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, pattern=r"\S"),
    WithJsonSchema({"type": "string", "pattern": r"\S"}),
]


class ClientCredentials(Credentials):
    """A client of the provider; all fields are trimmed (wire.md section 4.2)."""

    domain: Annotated[str, BeforeValidator(_host), Field(pattern=_HOST, json_schema_extra={"pattern": _HOST})]
    client_id: _Text
    client_secret: Annotated[
        Confidential,
        StringConstraints(strip_whitespace=True, min_length=1, pattern=r"\S"),
        WithJsonSchema({"type": "string", "pattern": r"\S"}),
    ]
    audience: Annotated[
        str, BeforeValidator(_trimmed), Field(pattern=_AUDIENCE, json_schema_extra={"pattern": _AUDIENCE})
    ]


class ShownClientCredentials(ShownCredentials):
    """What is answered of them."""

    domain: str
    client_id: str
    audience: str


IDP = AppModel(
    "idp", "Identity Provider", {CLIENT_CREDENTIALS: MethodModel(ClientCredentials, ShownClientCredentials)}
)
