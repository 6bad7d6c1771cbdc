"""Secrets of Google's Secret Manager: one per key, of which the latest version counts; old versions stay there.

https://cloud.google.com/secret-manager/docs/reference/rest, https://cloud.google.com/secret-manager/quotas and
https://cloud.google.com/iam/docs/create-short-lived-credentials-direct (2026-11-23). The service's own account
signs for itself (RFC 7523) and gets a token, with which it asks for one of the account that it may impersonate.
"""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Annotated, Literal
from urllib.parse import urlencode

from pydantic import JsonValue, StringConstraints, model_validator

from keybearer.destinations.app import Answers, App, Issued, proves_its_token
from keybearer.destinations.content import field_of, part_of, says, text_of
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.listing import LookUp, Row, by_token
from keybearer.destinations.login import log_in, signed_claims
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
from keybearer.destinations.remote import RemoteAnswer, RemoteRefusedError, RemoteUnavailableError, segment
from keybearer.destinations.session import Call, Session
from keybearer.destinations.table import Preparation, Put, Remove, Table
from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, Method, trimmed
from keybearer.wire.destination_forms import HOW_WRITTEN, DestinationConfig
from keybearer.wire.key_schema import KeyNaming
from keybearer.wire.strict import BlankIsAbsent

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
_LAST_PART = ".*/([^/]+)"
"""What a resource is called within that which holds it: `projects/1/secrets/NAME`."""
_FILE_FIELDS = {"client_email": "clientEmail", "private_key": "privateKey", "private_key_id": "privateKeyId"}
_Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=3, max_length=254, pattern="^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$"
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
    location_id: Annotated[_Location | None, BlankIsAbsent, HOW_WRITTEN] = None


class RegionConfig(DestinationConfig):
    """Secrets that never leave their region, which has an endpoint of its own."""

    scope: Literal["region"]
    project_id: _Project
    location_id: _Location


def _ours(session: Session) -> Session:
    return session.as_service(
        OwnAccountCredentials,
        "the service has no account of its own that could impersonate this one; start the service with "
        "--app-credentials gcp=FILE",
    )


async def _issue(session: Session) -> Issued:
    """Return a token of the service's own account, or of one that it impersonates."""
    given = session.credentials
    if isinstance(given, OwnAccountCredentials):
        return await _log_in(session, given)
    email = session.credentials_as(ImpersonationCredentials).service_account_email
    # All impersonate by the service's one account: the name says for whom it is.
    suffix = "-".join(session.context.organization_id.split("-")[:2])
    if not email.partition("@")[0].endswith(suffix):
        raise RemoteRefusedError(
            f"the name of the service account has to end with {suffix} before the @, which shows that it is meant "
            "for this organization: create one of such a name"
        )
    ours = _ours(session)
    owner = ours.credentials_as(OwnAccountCredentials).client_email
    root = session.root("https://iamcredentials.googleapis.com")
    call = Call(
        "POST",
        f"{root}/v1/projects/-/serviceAccounts/{segment(email)}:generateAccessToken",
        f"impersonate {email} as {owner}",
        body={"scope": [_SCOPE], "lifetime": f"{int(_HOLDS.total_seconds())}s"},
        holds_values=True,
        explain=lambda _: (
            "that takes the role Service Account Token Creator on the account, and the account must exist"
        ),
    )
    return await log_in(session, call, token="accessToken", ends="expireTime", by=ours)


async def _log_in(session: Session, own: OwnAccountCredentials) -> Issued:
    url = f"{session.root('https://oauth2.googleapis.com')}/token"
    assertion = signed_claims(
        session,
        own.private_key,
        lasts=_HOLDS,
        key_id=own.private_key_id,
        named="the private key of --app-credentials gcp=FILE",
        iss=own.client_email,
        scope=_SCOPE,
        aud=url,
    )
    call = Call(
        "POST",
        url,
        f"log the service's own account {own.client_email} in",
        form={"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion},
        holds_values=True,
        explain=lambda _: f"they are the key of the service's own account {own.client_email}",
    )
    return await log_in(session, call, token="access_token", ends="expires_in")


async def _check(session: Session) -> None:
    _ours(session).forget_token()
    await proves_its_token(session)


def _word(content: JsonValue) -> JsonValue:
    """Return the word of an error, as `NOT_FOUND`; of OAuth, as `invalid_grant`."""
    error = field_of(content, "error")
    return field_of(error, "status") if isinstance(error, dict) else error


_APP = App(
    name="gcp",
    title="GCP",
    methods={"service-account-impersonation": Method(ImpersonationCredentials)},
    own=OwnAccountCredentials,
    root=lambda session: session.root("https://secretmanager.googleapis.com"),
    issue=_issue,
    check=_check,
    answers=Answers(who="Google", word=_word, message=lambda content: field_of(content, "error", "message")),
)


_is_disabled = says(400, "FAILED_PRECONDITION", "error", "status")


def _table(place: Place) -> Table:
    """Return the secrets of a project, or of one region in it."""
    config = place.config
    if not isinstance(config, GlobalConfig | RegionConfig):
        raise TypeError(type(config).__name__)
    root, body = f"/v1/projects/{segment(config.project_id)}", dict[str, JsonValue]()
    if isinstance(config, RegionConfig):
        location = config.location_id
        host = place.session.root(f"https://secretmanager.{location}.rep.googleapis.com")
        root = f"{host}{root}/locations/{location}"
    elif config.location_id is None:
        body = {"replication": {"automatic": {}}}
    else:
        body = {"replication": {"userManaged": {"replicas": [{"location": config.location_id}]}}}

    def create(one: Outgoing) -> Call:
        path, to = f"?{urlencode({'secretId': one.name})}", f"create the secret '{one.name}'"
        return Call("POST", path, to, body=body, taken=frozenset({409}))

    return Table(
        place=f"the project '{config.project_id}'",
        root=f"{root}/secrets",
        listing=by_token(_page, "nextPageToken", _rows, _row),
        look_up=LookUp(
            call=lambda name: Call(
                "GET", f"/{segment(name)}/versions/latest:access", f"read the secret '{name}'"
            ),
            present=_latest,
            taken=lambda answer: answer.status == 404 or _is_disabled(answer),
        ),
        write=Put(
            call=_add_version,
            version=lambda answer: part_of(answer.json(), "name", _LAST_PART),
            preparation=Preparation(
                call=create, is_needed=lambda answer: answer.status == 404, is_for_new=True
            ),
        ),
        remove=Remove(lambda name: Call("DELETE", f"/{segment(name)}", f"delete the secret '{name}'")),
    )


def _page(token: str) -> Call:
    query = urlencode({"pageSize": "250", **({"pageToken": token} if token else {})})
    return Call("GET", f"?{query}", "list the secrets")


def _rows(content: JsonValue) -> JsonValue:
    # A project without secrets has no such field.
    return content.get("secrets", []) if isinstance(content, dict) else None


def _row(listed: JsonValue) -> Row:
    return Row(part_of(listed, "name", _LAST_PART), Present(None))


def _add_version(one: Outgoing) -> Call:
    body: JsonValue = {"payload": {"data": base64.b64encode(one.value.encode()).decode()}}
    to = f"write the secret '{one.name}'"
    return Call("POST", f"/{segment(one.name)}:addVersion", to, body=body, holds_values=True)


def _latest(_: str, answer: RemoteAnswer) -> Present:
    """Return the latest version; one that is disabled, destroyed or no text has no value."""
    if answer.status != 200:
        return Present(None)
    content = answer.json()
    version, payload = part_of(content, "name", _LAST_PART), field_of(content, "payload") or {}
    # The API leaves an empty text out.
    data = text_of({"data": "", **payload} if isinstance(payload, dict) else None, "data", may_be_empty=True)
    try:
        return Present(base64.b64decode(data, validate=True).decode(), version)
    except UnicodeDecodeError:
        return Present(None, version)
    except ValueError:
        raise RemoteUnavailableError("Google answers with a value that isn't written in base64") from None


def _name(config: DestinationConfig, naming: KeyNaming) -> str:
    match config:
        case GlobalConfig(project_id=project):
            return f"{project}/{naming.name_of('*')}"
        case RegionConfig(project_id=project, location_id=location):
            return f"{project}/{location}/{naming.name_of('*')}"
        case _:
            raise TypeError(type(config).__name__)


GCP_SECRET_MANAGER = DestinationKind(
    name="gcp-secret-manager",
    title="GCP Secret Manager",
    app=_APP,
    can_import=True,
    config=config_of(GlobalConfig, RegionConfig, by="scope"),
    places=NamedPlaces(form="PROJECT/NAME or PROJECT/LOCATION/NAME", name=_name),
    traits=lambda _: Traits(
        skips_empty=True,
        rules=NameRules(
            pattern="[A-Za-z0-9_-]{1,255}",
            words="letters, digits, underscores and hyphens, 255 at most",
            value_bytes_max=64 * 1024,
        ),
    ),
    open=_table,
)
