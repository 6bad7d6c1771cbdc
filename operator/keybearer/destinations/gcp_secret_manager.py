"""Secrets of Google's Secret Manager: one per key, of which the latest version counts; old versions stay there.

https://cloud.google.com/secret-manager/docs/reference/rest, https://cloud.google.com/secret-manager/quotas and
https://cloud.google.com/iam/docs/create-short-lived-credentials-direct (2026-11-23). The service's own account
signs for itself (RFC 7523) and gets a token, with which it asks for one of the account that it may impersonate.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Literal
from urllib.parse import urlencode

from pydantic import JsonValue, StringConstraints, model_validator

from keybearer.destinations.app import Answers, App, Issued, proves_its_token
from keybearer.destinations.form import (
    CustomPut,
    DestinationKind,
    Listing,
    LookUp,
    Place,
    Remove,
    Row,
    Table,
    config_of,
)
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
from keybearer.destinations.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteRefusedError,
    RemoteUnavailableError,
    field_of,
    segment,
)
from keybearer.destinations.session import Call, Session
from keybearer.pki.errors import MalformedError
from keybearer.pki.json_web_token import signed_token
from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, Method, trimmed
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.strict import EmptyIsAbsent

__all__ = [
    "GCP_SECRET_MANAGER",
    "GlobalConfig",
    "ImpersonationCredentials",
    "OwnAccountCredentials",
    "RegionConfig",
]

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_HOLDS = timedelta(hours=1)
"""The most that Google gives without a policy that allows more."""
_CLOCK_MARGIN = timedelta(seconds=30)
_FILE_FIELDS = {"client_email": "clientEmail", "private_key": "privateKey", "private_key_id": "privateKeyId"}
_Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=3, max_length=254, pattern=r"^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$"
    ),
]
_Project = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern="^[A-Za-z0-9][A-Za-z0-9.:_-]*$")
]
_Location = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9-]{0,62}$")]


class ImpersonationCredentials(Credentials):
    """Whom to impersonate. That the account is the organization's shows in its name."""

    service_account_email: _Email


class OwnAccountCredentials(Credentials):
    """The key of the service's own account. The file that Google hands out is taken as it is."""

    client_email: _Email
    private_key: Annotated[Confidential, trimmed(16_384)]
    private_key_id: Annotated[str, StringConstraints(max_length=128)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_file(cls, given: object) -> object:
        if isinstance(given, dict) and given.get("type") == "service_account":
            # Where tokens are got is not the file's to say: the key's signature would go anywhere.
            return {name: given[field] for field, name in _FILE_FIELDS.items() if field in given}
        return given


class GlobalConfig(DestinationConfig):
    """Secrets that every region has; new ones are kept at one location only, if it is named."""

    scope: Literal["global"]
    project_id: _Project
    location_id: Annotated[_Location | None, EmptyIsAbsent] = None


class RegionConfig(DestinationConfig):
    """Secrets that never leave their region, which has an endpoint of its own."""

    scope: Literal["region"]
    project_id: _Project
    location_id: _Location


def _own(session: Session) -> OwnAccountCredentials:
    own = session.context.own_credentials.get(_APP.name)
    if not isinstance(own, OwnAccountCredentials):
        raise RemoteRefusedError(
            "the service has no account of its own that could impersonate this one; start the service with "
            "--app-credentials gcp=FILE"
        )
    return own


async def _impersonate(session: Session) -> Issued:
    """Return a token of the account. All impersonate by the service's one account: the name says for whom it is."""
    email = session.credentials_as(ImpersonationCredentials).service_account_email
    suffix = "-".join(session.context.organization_id.split("-")[:2])
    if not email.partition("@")[0].endswith(suffix):
        raise RemoteRefusedError(
            f"the name of the service account has to end with {suffix} before the @, which shows that it is meant "
            "for this organization: create one of such a name"
        )
    own = _own(session)
    root = session.root("https://iamcredentials.googleapis.com")
    path = f"{root}/v1/projects/-/serviceAccounts/{segment(email)}:generateAccessToken"

    async def ask() -> RemoteAnswer:
        token = (await session.kept(own, lambda: _log_in(session, own)))["token"]
        call = Call(
            method="POST",
            path=path,
            to=f"impersonate {email} as {own.client_email}",
            body={"scope": [_SCOPE], "lifetime": f"{int(_HOLDS.total_seconds())}s"},
            headers={"Authorization": f"Bearer {token}"},
            holds_values=True,
        )
        return await session.ask_without_token(call, also=lambda found: found.status in (401, 403, 404))

    answer = await ask()
    if answer.status == 401:
        session.forget_token(own)
        answer = await ask()
    if answer.status in (401, 403, 404):
        raise RemoteDeniedError(
            f"the service's account {own.client_email} may not impersonate {email}: that takes the role Service "
            f"Account Token Creator on it, and that the account exists ({_word(answer.json_or_none())})"
        )
    given, ends = field_of(answer.json(), "accessToken"), field_of(answer.json(), "expireTime")
    if not isinstance(given, str) or not isinstance(ends, str):
        raise RemoteUnavailableError("Google answers without a token of the service account")
    try:
        return Issued({"token": given}, datetime.fromisoformat(ends))
    except ValueError:
        raise RemoteUnavailableError("Google gives a token without an end that is a time") from None


async def _log_in(session: Session, own: OwnAccountCredentials) -> Issued:
    url, issued = f"{session.root('https://oauth2.googleapis.com')}/token", session.now() - _CLOCK_MARGIN
    claims: dict[str, str | datetime] = {
        "iss": own.client_email,
        "scope": _SCOPE,
        "aud": url,
        "iat": issued,
        "exp": issued + _HOLDS,
    }
    try:
        assertion = signed_token(
            claims, own.private_key, {"kid": own.private_key_id} if own.private_key_id else None
        )
    except MalformedError as error:
        raise RemoteRefusedError(f"the private key of --app-credentials gcp=FILE: {error}") from None
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}
    call = Call(method="POST", path=url, to="log the service's own account in", form=form, holds_values=True)
    answer = await session.ask_without_token(call, also=lambda found: found.status in (400, 403))
    if answer.status in (400, 403):
        word = _word(answer.json_or_none())
        raise RemoteDeniedError(
            f"Google doesn't take the key of the service's own account {own.client_email} ({word})"
        )
    token, lasts = field_of(answer.json(), "access_token"), field_of(answer.json(), "expires_in")
    if not isinstance(token, str) or not isinstance(lasts, int):
        raise RemoteUnavailableError("Google answers without a token of the service's own account")
    return Issued({"token": token}, session.now() + timedelta(seconds=max(0, min(lasts, 3600))))


async def _check(session: Session) -> None:
    session.forget_token(_own(session))
    await proves_its_token(session)


def _word(content: JsonValue) -> str:
    """Return the word of an error, as `NOT_FOUND`; of OAuth, as `invalid_grant`."""
    error = field_of(content, "error")
    word = field_of(error, "status") if isinstance(error, dict) else error
    return word if isinstance(word, str) and re.fullmatch("[A-Za-z_]{1,64}", word) else ""


_APP = App(
    name="gcp",
    title="GCP",
    methods={"service-account-impersonation": Method(ImpersonationCredentials)},
    own=OwnAccountCredentials,
    root=lambda session: session.root("https://secretmanager.googleapis.com"),
    issue=_impersonate,
    check=_check,
    answers=Answers(who="Google", word=_word, message=lambda content: field_of(content, "error", "message")),
)


class _Secrets:
    """The secrets of a project, or of one region in it."""

    def __init__(self, place: Place) -> None:
        self._session = place.session
        self._config = config = place.config
        if not isinstance(config, GlobalConfig | RegionConfig):
            raise TypeError(type(config).__name__)
        root, self._name = f"/v1/projects/{segment(config.project_id)}", f"the project '{config.project_id}'"
        if isinstance(config, RegionConfig):
            location = segment(config.location_id)
            host = place.session.root(f"https://secretmanager.{location}.rep.googleapis.com")
            root = f"{host}{root}/locations/{location}"
        self._root = f"{root}/secrets"

    def table(self) -> Table:
        return Table(
            place=self._name,
            listing=Listing(
                first=self._page,
                rows=lambda page: page.get("secrets", []) if isinstance(page, dict) else None,
                row=lambda one: Row(_last_part(one), Present(None)),
                following=self._next,
            ),
            look_up=LookUp(
                call=lambda name: self._call(
                    "GET", f"/{segment(name)}/versions/latest:access", f"read the secret '{name}'"
                ),
                present=_latest,
                taken=_is_without_value,
            ),
            write=CustomPut(self._put),
            remove=Remove(
                lambda name: self._call("DELETE", f"/{segment(name)}", f"delete the secret '{name}'", 404)
            ),
        )

    def _call(self, method: str, path: str, to: str, *taken: int, body: JsonValue = None) -> Call:
        to = f"{to} of {self._name}"
        return Call(method=method, path=f"{self._root}{path}", to=to, body=body, taken=frozenset(taken))

    def _page(self, token: str | None = None) -> Call:
        query = urlencode({"pageSize": "250", **({"pageToken": token} if token else {})})
        return self._call("GET", f"?{query}", "list the secrets")

    def _next(self, answer: RemoteAnswer, _: int) -> Call | None:
        token = field_of(answer.json(), "nextPageToken")
        return self._page(token) if isinstance(token, str) and token else None

    async def _put(self, one: Outgoing, is_known: bool | None) -> str:  # noqa: FBT001 - as `CustomPut` has it
        """Return the version that was made; a secret is created before its first one."""
        if is_known is False:
            await self._create(one.name)
        path, to = f"/{segment(one.name)}:addVersion", f"write the secret '{one.name}'"
        data = base64.b64encode(one.value.encode()).decode()
        add = self._call("POST", path, to, body={"payload": {"data": data}})
        add = replace(add, holds_values=True)
        answer = await self._session.ask(add, also=lambda found: found.status == 404)
        if answer.status == 404:
            # Most likely it was there; or somebody has deleted it since.
            await self._create(one.name)
            answer = await self._session.ask(add)
        return _last_part(answer.json())

    async def _create(self, name: str) -> None:
        config, body = self._config, {}
        if isinstance(config, GlobalConfig):
            location = config.location_id
            replicas: JsonValue = {"userManaged": {"replicas": [{"location": location}]}}
            body = {"replication": {"automatic": {}} if location is None else replicas}
        path = f"?{urlencode({'secretId': name})}"
        await self._session.ask(self._call("POST", path, f"create the secret '{name}'", 409, body=body))


def _last_part(resource: JsonValue) -> str:
    """Return what a resource is called within that which holds it: `projects/1/secrets/NAME`."""
    path = field_of(resource, "name")
    last = path.rpartition("/")[2] if isinstance(path, str) else ""
    if not last:
        raise RemoteUnavailableError("Google answers with a resource without a name")
    return last


def _is_without_value(answer: RemoteAnswer) -> bool:
    is_disabled = answer.status == 400 and _word(answer.json_or_none()) == "FAILED_PRECONDITION"
    return answer.status == 404 or is_disabled


def _latest(name: str, answer: RemoteAnswer) -> Present:
    """Return the latest version; one that is disabled, destroyed or no text has no value."""
    if _is_without_value(answer):
        return Present(None)
    content = answer.json()
    payload = field_of(content, "payload")
    data = field_of(payload, "data") or ""
    if not isinstance(payload, dict | None) or not isinstance(data, str):
        raise RemoteUnavailableError(f"Google answers without the value of the secret '{name}'")
    try:
        return Present(base64.b64decode(data, validate=True).decode(), _last_part(content))
    except UnicodeDecodeError:
        return Present(None, _last_part(content))
    except binascii.Error:
        raise RemoteUnavailableError("Google answers with a value that isn't written in base64") from None


def _same_place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    # Where new secrets of all regions are replicated to says nothing of where they are found.
    where = {"scope", "project_id"} | ({"location_id"} if isinstance(config, RegionConfig) else set())
    return config.model_dump(mode="json", by_alias=True, include=where)


GCP_SECRET_MANAGER = DestinationKind(
    name="gcp-secret-manager",
    title="GCP Secret Manager",
    app=_APP,
    can_import=True,
    config=config_of(GlobalConfig, RegionConfig, by="scope"),
    place=_same_place,
    traits=lambda _: Traits(
        skips_empty=True,
        rules=NameRules(
            pattern="[A-Za-z0-9_-]{1,255}",
            words="letters, digits, underscores and hyphens, 255 at most",
            value_bytes_max=64 * 1024,
        ),
    ),
    open=lambda place: _Secrets(place).table(),
)
