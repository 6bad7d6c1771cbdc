"""The code host: whether a token or an installation works, and what codes of its logins are worth."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from keybearer.outbound.apps.answers import field_of
from keybearer.outbound.apps.codehost_api import (
    LIMITS,
    CodehostApi,
    CodehostPlace,
    own_credentials,
    place_of,
)
from keybearer.outbound.apps.protocol import AppContext
from keybearer.outbound.remote import (
    RemoteDeniedError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteUnavailableError,
)
from keybearer.wire.connections.base import Credentials
from keybearer.wire.connections.codehost import (
    GitHubAppCredentials,
    InstallationCredentials,
    LoginCredentials,
    OAuthCredentials,
    OwnCredentials,
)

__all__ = ["CodeHost"]

_WORD = re.compile(r"[a-z][a-z_]{0,63}")
"""Of an error of OAuth (RFC 6749 section 5.2); its description may repeat what was sent and is not read."""
_PAGE = 100
_PAGES_MAX = 100


class CodeHost:
    """Asks who the token is; exchanges codes for what lasts."""

    async def check(self, credentials: Credentials, context: AppContext) -> None:
        """Return if the host takes the token, or gives one for the installation.

        Raises:
            RemoteError: it doesn't, or can't be asked.
        """
        api = CodehostApi(credentials, context)
        if isinstance(credentials, InstallationCredentials):
            api.forget_token()  # what was got before proves nothing of now
            await api.token()
        else:
            await api.send("GET", "/user", to="tell whose token it is")

    async def exchange(self, given: Credentials, context: AppContext) -> Credentials:
        """Return what is kept: the token of a login, or an installation that the caller may use.

        Raises:
            RemoteError: the code is worth nothing, or the service has nothing to exchange it with.
        """
        if isinstance(given, OAuthCredentials):
            place = place_of(given, context.endpoints)
            own = _own(context, place, "use the method pat, or github-app with gitHubAppId and privateKey")
            token, lasts = await _token_for(given.code, own, place, context)
            if not lasts:
                raise RemoteRefusedError(
                    "the tokens of this OAuth app end after some hours; turn their expiration off, or use the "
                    "method github-app"
                )
            return LoginCredentials(instance_type=given.instance_type, host=given.host, access_token=token)
        if isinstance(given, GitHubAppCredentials):
            if given.private_key is None:
                await self._prove_installation(given, context)
            return InstallationCredentials(
                instance_type=given.instance_type,
                host=given.host,
                installation_id=given.installation_id,
                git_hub_app_id=given.git_hub_app_id if given.private_key is not None else None,
                private_key=given.private_key,
            )
        return given

    async def _prove_installation(self, given: GitHubAppCredentials, context: AppContext) -> None:
        """Return if the code's person may use the installation of the service's app.

        Installations are numbered: without this, who guesses a number would write to others' repositories.
        """
        place = place_of(given, context.endpoints)
        own = _own(
            context, place, "give gitHubAppId and privateKey of an app of yours, or use the method pat"
        )
        if own.private_key is None or own.git_hub_app_id is None:
            raise RemoteRefusedError(
                "the service has no app at this code host; give gitHubAppId and privateKey"
            )
        if given.git_hub_app_id not in (None, own.git_hub_app_id):
            raise RemoteRefusedError("the service doesn't have this app's key; give its privateKey as well")
        if given.code is None:
            raise RemoteRefusedError("code is required for an installation of the service's app")
        token, _ = await _token_for(given.code, own, place, context)
        person = CodehostApi(
            LoginCredentials(instance_type=given.instance_type, host=given.host, access_token=token), context
        )
        for page in range(1, _PAGES_MAX + 1):
            path = f"/user/installations?per_page={_PAGE}&page={page}"
            answer = await person.send("GET", path, to="list the installations that the person may use")
            listed = field_of(answer.json(), "installations")
            found = [str(field_of(one, "id")) for one in listed] if isinstance(listed, list) else []
            if given.installation_id in found:
                return
            if 'rel="next"' not in answer.headers.get("link", ""):
                break
        raise RemoteDeniedError(
            "the person who logged in may not use the installation of this installationId"
        )


def _own(context: AppContext, place: CodehostPlace, instead: str) -> OwnCredentials:
    own = own_credentials(context, place)
    if own is None:
        raise RemoteRefusedError(
            f"the service is no client of this code host, so it can't exchange a code; {instead}"
        )
    return own


async def _token_for(
    code: str, own: OwnCredentials, place: CodehostPlace, context: AppContext
) -> tuple[str, bool]:
    """Return the token that a code is worth, and whether it lasts."""
    form = {"client_id": own.client_id, "client_secret": own.client_secret, "code": code}
    request = RemoteRequest(
        "POST",
        f"{place.web}/login/oauth/access_token",
        {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
        urlencode(form).encode(),
    )
    answer = await context.http.send(request, limits=LIMITS)
    if answer.status >= 300:
        raise RemoteUnavailableError(f"the code host answers {answer.status} to the exchange of a code")
    given = answer.json()
    word = field_of(given, "error")
    if word is not None:
        # The host tells of errors with status 200.
        named = f" ({word})" if isinstance(word, str) and _WORD.fullmatch(word) else ""
        raise RemoteDeniedError(
            f"the code host doesn't take the code{named}; it is good once, for ten minutes"
        )
    token = field_of(given, "access_token")
    if not isinstance(token, str) or not token:
        raise RemoteUnavailableError("the code host answers the exchange of a code without a token")
    return token, field_of(given, "expires_in") is None
