"""The app `cloud` (AWS): whose key it is, roles that are assumed with it, and access keys that replace others.

https://docs.aws.amazon.com/STS/latest/APIReference and https://docs.aws.amazon.com/IAM/latest/APIReference
(2026-11-25). An account is in one of two partitions, the public one and the government's; a key doesn't say in which.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from pydantic import JsonValue

from keybearer.base.clock import parse_instant
from keybearer.destinations.app import App, Issued, Rotation
from keybearer.destinations.cloud_answers import ANSWERS, EXPIRED, UnknownKeyError, code_of, xml_text
from keybearer.destinations.cloud_credentials import AccessKeyCredentials, AssumeRoleCredentials
from keybearer.destinations.cloud_signing import CloudKey, Scope, sign
from keybearer.destinations.listing import Listing, Row, by_token
from keybearer.destinations.remote import (
    RemoteAnswer,
    RemoteError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Call, Session
from keybearer.wire.credentials import Credentials, Method

__all__ = ["CLOUD", "CloudService"]

_SCOPE = "Keybearer-Scope"
"""Says what a request is signed for: SERVICE/REGION. It isn't sent."""
_VERSIONS = {"sts": "2011-06-15", "iam": "2010-05-08"}
_PUBLIC_REGION = "us-east-1"
_GOV_REGION = "us-gov-west-1"
_STS_HOST = re.compile(r"\bsts\.([a-z]{2}(?:-[a-z]+)+-[0-9])\.")
_SESSION_PARTS = ("AccessKeyId", "SecretAccessKey", "SessionToken")
_SESSION_SECONDS = 3600
"""The longest that a role lasts which is assumed by another role."""
_NEW_KEY_TRIES = 10
_NEW_KEY_PAUSE = timedelta(seconds=3)
_NEW_KEY_SUCCESSES = 2
"""A new key spreads over AWS for some seconds; one success alone may be followed by failures."""
_UNDOING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class CloudService:
    """A service of one region that speaks JSON.

    Attributes:
        prefix: of its operations, in the header `X-Amz-Target`.
        hints: what to do about a refused write, by the code of the error.
        tagging: its operations that set tags and remove them.
    """

    session: Session
    scope: Scope
    prefix: str
    hints: Mapping[str, str] = field(default_factory=dict)
    tagging: tuple[str, str] = ("TagResource", "UntagResource")

    def call(self, operation: str, body: Mapping[str, JsonValue], to: str, *, is_write: bool = False) -> Call:
        """Return the call of an operation; one that writes holds a value, and is explained by the hints."""
        return Call(
            "POST",
            _url(self.session, self.scope),
            to,
            body=dict(body),
            headers={
                "Content-Type": "application/x-amz-json-1.1",
                "X-Amz-Target": f"{self.prefix}{operation}",
                _SCOPE: f"{self.scope.service}/{self.scope.region}",
            },
            holds_values=is_write,
            explain=lambda answer: self.hints.get(code_of(answer), "") if is_write else "",
        )

    async def ask(self, operation: str, body: Mapping[str, JsonValue], to: str) -> RemoteAnswer:
        """Return the answer to an operation whose body holds no value.

        Raises:
            RemoteError: it is a refusal, or none came.
        """
        return await self.session.ask(self.call(operation, body, to))

    async def tag(
        self, resource: dict[str, JsonValue], change: tuple[list[JsonValue], list[JsonValue]], to: str
    ) -> None:
        """Set tags, and remove those of some keys, as `Extras.change` returns both.

        Raises:
            RemoteError: it is a refusal, or none came.
        """
        (put, remove), (puts, removes) = change, self.tagging
        if remove:
            await self.ask(removes, {**resource, "TagKeys": remove}, to)
        if put:
            await self.ask(puts, {**resource, "Tags": put}, to)

    def listing(
        self,
        operation: str,
        body: Mapping[str, JsonValue],
        to: str,
        field: str,
        row: Callable[[JsonValue], Row | None],
        then: Listing | None = None,
    ) -> Listing:
        """Return the listing of an operation whose answers have entries in a field; a page may have none."""

        def page(token: str) -> Call:
            return self.call(operation, {**body, **({"NextToken": token} if token else {})}, to)

        def rows(answer: JsonValue) -> JsonValue:
            return answer.get(field, []) if isinstance(answer, dict) else None

        return by_token(page, "NextToken", rows, row, then)


def _url(session: Session, scope: Scope) -> str:
    usual = f"https://{scope.service}.{scope.region}.amazonaws.com"
    if scope.service == "iam":
        is_gov = scope.region == _GOV_REGION
        usual = "https://iam.us-gov.amazonaws.com" if is_gov else "https://iam.amazonaws.com"
    return f"{session.root(usual)}/"


def _form(session: Session, service: str, region: str, form: Mapping[str, str], to: str) -> Call:
    """Return the call of an operation of a service that speaks forms and XML."""
    return Call(
        "POST",
        _url(session, Scope(service, region)),
        to,
        form={**form, "Version": _VERSIONS[service]},
        headers={_SCOPE: f"{service}/{region}"},
    )


def _authorize(request: RemoteRequest, parts: Mapping[str, str], session: Session) -> RemoteRequest:
    headers = dict(request.headers)
    service, _, region = headers.pop(_SCOPE).partition("/")
    key = CloudKey(parts["AccessKeyId"], parts["SecretAccessKey"], parts.get("SessionToken"))
    scope, now = Scope(service, region), session.now()
    signed = sign(request.method, request.url, headers, request.content, key=key, scope=scope, now=now)
    return replace(request, headers=signed)


def _parts(given: Credentials) -> Mapping[str, str] | None:
    if not isinstance(given, AccessKeyCredentials):
        return None
    return {"AccessKeyId": given.access_key_id, "SecretAccessKey": given.secret_access_key}


def _of_role(role: AssumeRoleCredentials, session: Session, form: Mapping[str, str], to: str) -> Call:
    """Return a call about a role to where it is assumed: where it says, or in its partition."""
    named = _STS_HOST.search(role.sts_endpoint or "")
    region = _GOV_REGION if role.role_arn.startswith("arn:aws-us-gov:") else _PUBLIC_REGION
    call = _form(session, "sts", named[1] if named else region, form, to)
    return replace(call, path=f"{role.sts_endpoint.rstrip('/')}/") if role.sts_endpoint else call


async def _assume(session: Session) -> Issued:
    role = session.credentials_as(AssumeRoleCredentials)
    ours = session.as_service(
        AccessKeyCredentials,
        "the service has no access key of its own, so it can assume no role; use the method access-key, or have the "
        "service started with --app-credentials cloud=FILE",
    )
    form = {
        "Action": "AssumeRole",
        "RoleArn": role.role_arn,
        "RoleSessionName": "keybearer",
        "ExternalId": session.context.organization_id,
        "DurationSeconds": str(_SESSION_SECONDS),
    }
    body = (await ours.ask(_of_role(role, session, form, f"assume the role {role.role_arn}"))).body
    parts = {tag: xml_text(body, tag) for tag in _SESSION_PARTS}
    try:
        ends_at = parse_instant(xml_text(body, "Expiration"))
    except ValueError:
        raise RemoteUnavailableError("AWS assumes the role and answers without an expiration") from None
    if not all(parts.values()):
        raise RemoteUnavailableError("AWS assumes the role and answers without credentials")
    return Issued(parts, ends_at)


_IDENTITY = {"Action": "GetCallerIdentity"}


async def _check(session: Session) -> None:
    """Return if AWS knows whose credentials these are."""
    session.forget_token()
    if isinstance(session.credentials, AssumeRoleCredentials):
        await session.ask(_of_role(session.credentials, session, _IDENTITY, "tell whose session it is"))
    else:
        await _home_of(session)


async def _identify(session: Session, region: str) -> None:
    await session.ask(_form(session, "sts", region, _IDENTITY, "tell whose key it is"))


async def _home_of(session: Session) -> str:
    """Return the region whose services know the key: of the public partition, or of the government's."""
    try:
        await _identify(session, _PUBLIC_REGION)
    except UnknownKeyError as unknown:
        try:
            await _identify(session, _GOV_REGION)
        except RemoteError:
            # Where the other partition can't be reached, the first one's word counts.
            raise unknown from None
        return _GOV_REGION
    return _PUBLIC_REGION


async def _renew(session: Session) -> Credentials:
    """Return another access key of the same user, once AWS takes it; else it is deleted again."""
    if not isinstance(session.credentials, AccessKeyCredentials):
        raise RemoteRefusedError("a role has no credentials that could be made anew")
    region = await _home_of(session)
    call = _form(session, "iam", region, {"Action": "CreateAccessKey"}, "create an access key")
    body = (await session.ask(replace(call, is_repeatable=False, explain=_explain_creation))).body
    key, secret = xml_text(body, "AccessKeyId"), xml_text(body, "SecretAccessKey")
    if not key or not secret:
        raise RemoteUnavailableError("AWS creates an access key and answers without it")
    made = AccessKeyCredentials(access_key_id=key, secret_access_key=secret)
    try:
        await _until_taken(Session(CLOUD, made, session.context), region)
    except (RemoteError, asyncio.CancelledError):
        # Nobody would know of it, and a user has two keys at most.
        async with asyncio.timeout(_UNDOING_SECONDS):
            await session.ask(_deletion(session, region, key), also=lambda _: True)
        raise
    return made


def _explain_creation(answer: RemoteAnswer) -> str:
    return "the user has as many access keys as it may; delete one" if "Limit" in code_of(answer) else ""


async def _until_taken(new: Session, region: str) -> None:
    successes = 0
    for _ in range(_NEW_KEY_TRIES):
        try:
            await _identify(new, region)
        except UnknownKeyError:
            successes = 0
        else:
            successes += 1
            if successes == _NEW_KEY_SUCCESSES:
                return
        await new.pause(_NEW_KEY_PAUSE)
    raise RemoteUnavailableError("AWS made an access key that it didn't take afterwards; it is deleted again")


def _deletion(session: Session, region: str, access_key_id: str) -> Call:
    form = {"Action": "DeleteAccessKey", "AccessKeyId": access_key_id}
    return _form(session, "iam", region, form, "delete the access key that was replaced")


async def _retire(session: Session, old: Credentials) -> None:
    """Delete the old access key; one that is gone already counts."""
    new = session.credentials
    if not isinstance(old, AccessKeyCredentials) or not isinstance(new, AccessKeyCredentials):
        raise RemoteRefusedError("a role has no credentials that could be deleted")
    if old.access_key_id == new.access_key_id:
        return
    for _ in range(_NEW_KEY_TRIES):
        try:
            deletion = _deletion(session, await _home_of(session), old.access_key_id)
            await session.ask(deletion, also=lambda answer: code_of(answer).startswith("NoSuchEntity"))
        except UnknownKeyError:
            await session.pause(_NEW_KEY_PAUSE)
        else:
            return
    raise RemoteUnavailableError("AWS doesn't take the new access key for accounts yet")


CLOUD = App(
    name="cloud",
    title="AWS",
    methods={
        "assume-role": Method(AssumeRoleCredentials),
        "access-key": Method(AccessKeyCredentials, ("access_key_id",), is_rotatable=True),
    },
    own=AccessKeyCredentials,
    root=lambda session: session.root(""),
    headers=lambda _: {},
    static=_parts,
    issue=_assume,
    stale=EXPIRED,
    authorize=_authorize,
    answers=ANSWERS,
    check=_check,
    rotation=Rotation(_renew, _retire),
)
