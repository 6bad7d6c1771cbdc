"""The identity provider: whether it gives a token for client credentials (wire.md section 4.2)."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from keybearer.outbound.apps.answers import error_in, field_of
from keybearer.outbound.apps.protocol import AppContext
from keybearer.outbound.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRequest,
    RemoteUnavailableError,
)
from keybearer.wire.connections.base import Credentials
from keybearer.wire.connections.idp import ClientCredentials

__all__ = ["IdentityProvider"]

_TOKEN_PATH = "/oauth/token"
_CODE = re.compile(r"[a-z][a-z_]{0,63}")
"""An error's word (RFC 6749 section 5.2); its description may repeat what was sent and is not read."""


class IdentityProvider:
    """Asks for a token, and throws it away."""

    async def check(self, credentials: Credentials, context: AppContext) -> None:
        """Return if the provider gives a bearer token.

        Raises:
            RemoteError: it doesn't, or can't be asked.
        """
        if not isinstance(credentials, ClientCredentials):
            raise TypeError(type(credentials).__name__)
        form = {
            "grant_type": "client_credentials",
            "client_id": credentials.client_id,
            "client_secret": credentials.client_secret,
            "audience": credentials.audience,
        }
        request = RemoteRequest(
            "POST",
            f"https://{credentials.domain}{_TOKEN_PATH}",
            {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
            urlencode(form).encode(),
        )
        _judge(await context.http.send(request))


def _judge(answer: RemoteAnswer) -> None:
    if answer.status == 404:
        raise RemoteMissingError(f"the domain has no {_TOKEN_PATH}; is it the identity provider's?")
    if answer.status in (400, 401, 403):
        raise RemoteDeniedError(
            f"the identity provider refuses them{_word_of(answer)}; see to clientId, clientSecret and audience"
        )
    if answer.status != 200:
        raise RemoteUnavailableError(f"the identity provider answers {answer.status}")
    kind = field_of(answer.json(), "token_type")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise RemoteUnavailableError("the identity provider answers without a token of type Bearer")


def _word_of(answer: RemoteAnswer) -> str:
    word = error_in(answer)
    return f" ({word})" if isinstance(word, str) and _CODE.fullmatch(word) else ""
