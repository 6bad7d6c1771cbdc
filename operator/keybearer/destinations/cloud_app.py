"""The app `cloud`: whose key it is, roles that are assumed with it, and access keys that replace others.

An account lies in one of two partitions, the public one and the government's, and a key doesn't say in which.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import timedelta

from pydantic import JsonValue

from keybearer.base.clock import parse_instant
from keybearer.destinations.app import Answers, App, Issued, Rotation
from keybearer.destinations.cloud_calls import CloudCalls, CloudFault, xml_text
from keybearer.destinations.cloud_credentials import (
    AccessKeyCredentials,
    AssumeRoleCredentials,
    ShownAccessKey,
)
from keybearer.destinations.cloud_signing import CloudKey, Scope
from keybearer.destinations.remote import RemoteError, RemoteRefusedError, RemoteUnavailableError
from keybearer.destinations.session import AppContext, Session
from keybearer.wire.credentials import Credentials, Method

__all__ = ["CLOUD", "CloudAccount"]

_APP = "cloud"
_STS_VERSION = "2011-06-15"
_IAM_VERSION = "2010-05-08"
_PUBLIC_REGION = "us-east-1"
_GOV_REGION = "us-gov-west-1"
_STS_HOST = re.compile(r"\bsts\.([a-z]{2}(?:-[a-z]+)+-[0-9])\.")
_SESSION_NAME = "keybearer"
_SESSION_SECONDS = 3600
"""The longest that a role lasts which is assumed by another role."""
_UNKNOWN = frozenset({"InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId"})
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException"})
_NOT_THERE = frozenset({"NoSuchEntity", "NoSuchEntityException"})
_NEW_KEY_TRIES = 10
_NEW_KEY_PAUSE = timedelta(seconds=3)
_NEW_KEY_SUCCESSES = 2
"""A new key spreads over the cloud for some seconds; one success alone may be followed by failures."""
_UNDOING_SECONDS = 5.0


async def _check(session: Session) -> None:
    """Return if the cloud knows whose credentials these are."""
    if isinstance(session.credentials, AccessKeyCredentials):
        await _home_of(_key(session.credentials), session.context)
        return
    role = _role(session.credentials)
    key = await _assumed(role, session.context)
    fault = await _ask_identity(key, session.context, _home_of_role(role), role)
    if fault is not None:
        raise fault.error("GetCallerIdentity")


async def _renew(session: Session) -> Credentials:
    """Return another access key of the same user, once the cloud takes it; else it is deleted again."""
    if not isinstance(session.credentials, AccessKeyCredentials):
        raise RemoteRefusedError("a role has no credentials that could be made anew")
    old, context = _key(session.credentials), session.context
    region = await _home_of(old, context)
    body, fault = await _ask_iam(old, context, region, {"Action": "CreateAccessKey"}, is_repeatable=False)
    if fault is not None:
        hint = "the user has as many access keys as it may; delete one" if "Limit" in fault.code else ""
        raise fault.error("CreateAccessKey", hint=hint)
    made = _made(body)
    try:
        await _until_taken(_key(made), context, region)
    except (RemoteError, asyncio.CancelledError):
        # Nobody would know of it, and a user has two keys at most.
        async with asyncio.timeout(_UNDOING_SECONDS):
            await _ask_iam(old, context, region, _deletion(made.access_key_id))
        raise
    return made


async def _retire(session: Session, old: Credentials) -> None:
    """Delete the old access key; one that is gone already counts."""
    new = session.credentials
    if not isinstance(old, AccessKeyCredentials) or not isinstance(new, AccessKeyCredentials):
        raise RemoteRefusedError("a role has no credentials that could be deleted")
    if old.access_key_id == new.access_key_id:
        return
    for _ in range(_NEW_KEY_TRIES):
        fault = await _delete(old.access_key_id, _key(new), session.context)
        if fault is None or fault.code in _NOT_THERE:
            return
        if fault.code not in _UNKNOWN:
            raise fault.error("DeleteAccessKey")
        await session.pause(_NEW_KEY_PAUSE)
    raise RemoteUnavailableError("the cloud doesn't take the new access key for accounts yet")


class CloudAccount:
    """Calls to regional services in the name of a connection."""

    def __init__(self, credentials: Credentials, context: AppContext) -> None:
        self._credentials = credentials
        self._context = context

    async def ask(
        self, scope: Scope, target: str, body: Mapping[str, JsonValue]
    ) -> tuple[Mapping[str, JsonValue], CloudFault | None]:
        """Return the answer of a service that speaks JSON, or what is wrong.

        Raises:
            RemoteError: no answer came, or the role can't be assumed.
        """
        told, fault = await (await self._calls()).ask_json(scope, target, body)
        if (
            fault is not None
            and fault.code in _EXPIRED
            and isinstance(self._credentials, AssumeRoleCredentials)
        ):
            # The role's sessions were revoked, or the clock is not ours.
            self._context.short_lived.forget(_kept_as(self._credentials, self._context))
            told, fault = await (await self._calls()).ask_json(scope, target, body)
        return told, fault

    async def _calls(self) -> CloudCalls:
        if isinstance(self._credentials, AccessKeyCredentials):
            key = _key(self._credentials)
        else:
            key = await _assumed(_role(self._credentials), self._context)
        return CloudCalls(self._context.http, key, self._context.endpoints.get(_APP))


def _key(credentials: AccessKeyCredentials) -> CloudKey:
    return CloudKey(credentials.access_key_id, credentials.secret_access_key)


def _role(credentials: Credentials) -> AssumeRoleCredentials:
    if not isinstance(credentials, AssumeRoleCredentials):
        raise TypeError(type(credentials).__name__)
    return credentials


def _own(context: AppContext) -> AccessKeyCredentials:
    own = context.own_credentials.get(_APP)
    if not isinstance(own, AccessKeyCredentials):
        raise RemoteRefusedError(
            "the service has no access key of its own, so it can assume no role; use the method access-key, or have "
            "the service started with --app-credentials cloud=FILE"
        )
    return own


def _kept_as(role: AssumeRoleCredentials, context: AppContext) -> tuple[str, ...]:
    own = _own(context).access_key_id
    return (_APP, role.role_arn, role.sts_endpoint or "", context.organization_id, own)


async def _assumed(role: AssumeRoleCredentials, context: AppContext) -> CloudKey:
    """Return a key of the role that holds for a while."""
    own = _key(_own(context))

    async def issue() -> Issued:
        form = {
            "Action": "AssumeRole",
            "Version": _STS_VERSION,
            "RoleArn": role.role_arn,
            "RoleSessionName": _SESSION_NAME,
            "ExternalId": context.organization_id,
            "DurationSeconds": str(_SESSION_SECONDS),
        }
        region = _home_of_role(role)
        body, fault = await _tokens(own, context, role).ask_form(Scope("sts", region), form)
        if fault is not None:
            raise fault.error("AssumeRole")
        parts = {tag: xml_text(body, tag) for tag in ("AccessKeyId", "SecretAccessKey", "SessionToken")}
        try:
            ends_at = parse_instant(xml_text(body, "Expiration"))
        except ValueError:
            raise RemoteUnavailableError("the cloud answers AssumeRole without an expiration") from None
        if not all(parts.values()):
            raise RemoteUnavailableError("the cloud answers AssumeRole without credentials")
        return Issued(parts, ends_at)

    parts = await context.short_lived.get(_kept_as(role, context), issue)
    return CloudKey(parts["AccessKeyId"], parts["SecretAccessKey"], parts["SessionToken"])


def _home_of_role(role: AssumeRoleCredentials) -> str:
    named = _STS_HOST.search(role.sts_endpoint or "")
    if named:
        return named[1]
    return _GOV_REGION if role.role_arn.startswith("arn:aws-us-gov:") else _PUBLIC_REGION


def _tokens(key: CloudKey, context: AppContext, role: AssumeRoleCredentials | None = None) -> CloudCalls:
    named = role.sts_endpoint if role is not None else None
    return CloudCalls(context.http, key, named or context.endpoints.get(_APP))


async def _ask_identity(
    key: CloudKey, context: AppContext, region: str, role: AssumeRoleCredentials | None = None
) -> CloudFault | None:
    form = {"Action": "GetCallerIdentity", "Version": _STS_VERSION}
    _, fault = await _tokens(key, context, role).ask_form(Scope("sts", region), form)
    return fault


async def _ask_iam(
    key: CloudKey,
    context: AppContext,
    region: str,
    form: Mapping[str, str],
    *,
    is_repeatable: bool = True,
) -> tuple[bytes, CloudFault | None]:
    calls = CloudCalls(context.http, key, context.endpoints.get(_APP))
    whole = {**form, "Version": _IAM_VERSION}
    return await calls.ask_form(Scope("iam", region), whole, is_repeatable=is_repeatable)


def _made(body: bytes) -> AccessKeyCredentials:
    key, secret = xml_text(body, "AccessKeyId"), xml_text(body, "SecretAccessKey")
    if not key or not secret:
        raise RemoteUnavailableError("the cloud answers CreateAccessKey without a key")
    return AccessKeyCredentials(access_key_id=key, secret_access_key=secret)


def _deletion(access_key_id: str) -> Mapping[str, str]:
    return {"Action": "DeleteAccessKey", "AccessKeyId": access_key_id}


async def _delete(access_key_id: str, key: CloudKey, context: AppContext) -> CloudFault | None:
    region = await _look_up(key, context)
    if isinstance(region, CloudFault):
        return region
    _, fault = await _ask_iam(key, context, region, _deletion(access_key_id))
    return fault


async def _home_of(key: CloudKey, context: AppContext) -> str:
    """Return the region whose tokens and accounts know the key: of the public partition, or of the government's."""
    region = await _look_up(key, context)
    if isinstance(region, CloudFault):
        raise region.error("GetCallerIdentity")
    return region


async def _look_up(key: CloudKey, context: AppContext) -> str | CloudFault:
    denied = await _ask_identity(key, context, _PUBLIC_REGION)
    if denied is None:
        return _PUBLIC_REGION
    if denied.code not in _UNKNOWN:
        return denied
    try:
        fault = await _ask_identity(key, context, _GOV_REGION)
    except RemoteError:
        # Where the other partition can't be reached, the first one's word stands.
        return denied
    return _GOV_REGION if fault is None else denied


async def _until_taken(key: CloudKey, context: AppContext, region: str) -> None:
    successes = 0
    for _ in range(_NEW_KEY_TRIES):
        fault = await _ask_identity(key, context, region)
        if fault is not None and fault.code not in _UNKNOWN:
            raise fault.error("GetCallerIdentity")
        successes = successes + 1 if fault is None else 0
        if successes == _NEW_KEY_SUCCESSES:
            return
        await context.http.pause(_NEW_KEY_PAUSE)
    raise RemoteUnavailableError(
        "the cloud made an access key that it didn't take afterwards; it is deleted again"
    )


CLOUD = App(
    name=_APP,
    title="AWS",
    methods={
        "assume-role": Method(AssumeRoleCredentials),
        "access-key": Method(AccessKeyCredentials, ShownAccessKey, is_rotatable=True),
    },
    own=AccessKeyCredentials,
    root=lambda session: session.root(""),
    answers=Answers(who="the cloud"),
    check=_check,
    rotation=Rotation(_renew, _retire),
)
