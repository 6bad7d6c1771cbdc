"""The app `idp`: an identity provider that gives tokens for OAuth 2.0 client credentials; no destination takes it.

RFC 6749 sections 4.4 and 5; the path and the audience are Auth0's: https://auth0.com/docs/tokens/get-access-tokens
(2026-11-25). Credentials have the published service's words.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic.json_schema import WithJsonSchema

from keybearer.destinations.app import Answers, App
from keybearer.destinations.content import field_of, text_or_none
from keybearer.destinations.login import client_credentials
from keybearer.destinations.remote import RemoteUnavailableError
from keybearer.destinations.session import Session
from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, Method

__all__ = ["IDP", "ClientCredentials"]

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


_NOT_BLANK = StringConstraints(strip_whitespace=True, min_length=1, pattern=r"\S")
_SCHEMA = WithJsonSchema({"type": "string", "pattern": r"\S"})


class ClientCredentials(Credentials):
    """A client of the provider; all fields are trimmed."""

    domain: Annotated[str, BeforeValidator(_host), Field(pattern=_HOST, json_schema_extra={"pattern": _HOST})]
    client_id: Annotated[str, _NOT_BLANK, _SCHEMA]
    client_secret: Annotated[Confidential, _NOT_BLANK, _SCHEMA]
    audience: Annotated[
        str, BeforeValidator(_trimmed), Field(pattern=_AUDIENCE, json_schema_extra={"pattern": _AUDIENCE})
    ]


async def _check(session: Session) -> None:
    """Return if the provider gives a bearer token, which is thrown away."""
    given = session.credentials_as(ClientCredentials)
    client = given.client_id, given.client_secret
    call = client_credentials("/oauth/token", client, to="log the client in", audience=given.audience)
    kind = text_or_none((await session.ask_without_token(call)).json(), "token_type")
    if kind is None or kind.lower() != "bearer":
        raise RemoteUnavailableError("the identity provider answers without a token of type Bearer")


_ADVICE = "check clientId, clientSecret and audience"
IDP = App(
    name="idp",
    title="Identity Provider",
    methods={"client-credentials": Method(ClientCredentials, ("domain", "client_id", "audience"))},
    root=lambda session: f"https://{session.credentials_as(ClientCredentials).domain}",
    check=_check,
    answers=Answers(
        who="the identity provider",
        word=lambda content: field_of(content, "error"),
        hints={
            **dict.fromkeys((400, 401, 403), _ADVICE),
            404: "the domain has no /oauth/token; is it the identity provider's?",
        },
    ),
)
