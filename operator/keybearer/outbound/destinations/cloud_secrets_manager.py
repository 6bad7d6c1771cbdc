"""Secrets of a region's manager: one for each key, or one for all of them (wire.md section 3.5).

https://docs.aws.amazon.com/secretsmanager/latest/apireference. A secret that exists is written with one call. One
that somebody scheduled for deletion is restored: its name can't be had otherwise.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import islice

import orjson
from pydantic import JsonValue

from keybearer.base.ids import new_uuid
from keybearer.outbound.apps.cloud import CloudAccount
from keybearer.outbound.apps.cloud_calls import CloudFault
from keybearer.outbound.apps.cloud_signing import Scope
from keybearer.outbound.destinations.bounds import Bounds, Refusals
from keybearer.outbound.destinations.cloud_shared import (
    Extras,
    Json,
    objects_of,
    pages,
    tags_of,
    text_of,
)
from keybearer.outbound.destinations.protocol import (
    Change,
    Destination,
    DriverInput,
    ForeignContentError,
    Outgoing,
    Present,
    Traits,
    Written,
)
from keybearer.outbound.remote import RemoteError, RemoteRefusedError, RemoteUnavailableError
from keybearer.wire.destinations.cloud import CloudOptions
from keybearer.wire.destinations.cloud_secrets_manager import ManyToOneConfig, OneToOneConfig

__all__ = ["JsonSecret", "SecretPerKey", "secrets_manager"]

_TARGET = "secretsmanager."
_LISTED_PAGE = 100
_VALUES_AT_ONCE = 20
_DEFAULT_KEY = "alias/aws/secretsmanager"
_VALUE_BYTES = 65_536
_STEPS = 4
"""Not there: create; there after all: write; to be deleted: restore and write."""
_NOT_THERE = "ResourceNotFoundException"
_THERE = "ResourceExistsException"
_WRONG_STATE = "InvalidRequestException"
_CURRENT = "AWSCURRENT"
_FOREIGN_FORMAT = "Invalid format for Many-To-One mapping behavior: requires key/value configuration."
_HINTS = {
    "EncryptionFailure": "there is no such key of encryption, or it can't be used",
    "DecryptionFailure": "its key of encryption can't be used",
    "LimitExceededException": "the account holds as many secrets, or this one as many versions, as it may",
    "ValidationException": "a name takes letters, digits and /_+=.@-",
    "InvalidParameterException": "a name takes letters, digits and /_+=.@-, and tags likewise with spaces and colons",
}


def secrets_manager(given: DriverInput) -> Destination:
    """Return the driver for the mapping that is configured."""
    return SecretPerKey(given) if isinstance(given.config, OneToOneConfig) else JsonSecret(given)


class _Secrets:
    """Calls that both mappings make, by the names of secrets."""

    def __init__(self, given: DriverInput, region: str) -> None:
        if not isinstance(given.options, CloudOptions):
            raise TypeError(type(given.options).__name__)
        self.scope = Scope("secretsmanager", region)
        self.extras = Extras(given.options)
        self.account = CloudAccount(given.credentials, given.context)
        self.tags: dict[str, Mapping[str, str]] = {}
        self.is_listed = False

    async def ask(self, operation: str, body: Json) -> Json:
        """Return the answer.

        Raises:
            RemoteError: it is a refusal.
        """
        told, fault = await self.account.ask(self.scope, f"{_TARGET}{operation}", body)
        if fault is not None:
            raise fault.error(operation)
        return told

    async def write(self, name: str, value: str, metadata: Sequence[tuple[str, str]] = ()) -> str:
        """Return the id of the version that is current now, in a secret with the tags that it should have.

        Raises:
            RemoteError: it isn't.
        """
        is_there = name in self.tags or not self.is_listed
        for _ in range(_STEPS):
            version = new_uuid()
            operation = "UpdateSecret" if is_there else "CreateSecret"
            body = (
                self._update(name, value, version)
                if is_there
                else self._creation(name, value, version, metadata)
            )
            _, fault = await self.account.ask(self.scope, f"{_TARGET}{operation}", body)
            if fault is None:
                if is_there and self.extras.manages_tags:
                    await self._tag(name, metadata)
                self.tags[name] = self.extras.tags(metadata)
                return version
            if fault.code == _NOT_THERE and is_there:
                is_there = False
            elif fault.code == _THERE and not is_there:
                is_there = True
            elif _is_to_be_deleted(fault):
                is_there = await self._restore(name)
            else:
                raise _refusal(fault, f"{operation} of {name}", value)
        raise RemoteUnavailableError(f"the secret {name} is still being deleted; its name is free in a while")

    async def delete(self, name: str) -> None:
        """Delete a secret at once and for good; one that is gone already counts.

        Raises:
            RemoteError: it is still there.
        """
        body: Json = {"SecretId": name, "ForceDeleteWithoutRecovery": True}
        _, fault = await self.account.ask(self.scope, f"{_TARGET}DeleteSecret", body)
        if fault is not None and fault.code != _NOT_THERE:
            raise fault.error(f"DeleteSecret of {name}")
        self.tags.pop(name, None)

    async def _restore(self, name: str) -> bool:
        _, fault = await self.account.ask(self.scope, f"{_TARGET}RestoreSecret", {"SecretId": name})
        if fault is not None and fault.code not in (_NOT_THERE, _WRONG_STATE):
            raise fault.error(f"RestoreSecret of {name}")
        return fault is None

    def _update(self, name: str, value: str, version: str) -> Json:
        key: dict[str, JsonValue] = {} if self.extras.key_id is None else {"KmsKeyId": self.extras.key_id}
        return {"SecretId": name, "ClientRequestToken": version, "SecretString": value, **key}

    def _creation(self, name: str, value: str, version: str, metadata: Sequence[tuple[str, str]]) -> Json:
        tags = self.extras.change(metadata, {}).listed
        return {
            "Name": name,
            "ClientRequestToken": version,
            "SecretString": value,
            "KmsKeyId": self.extras.key_id or _DEFAULT_KEY,
            **({"Tags": tags} if tags else {}),
        }

    async def _tag(self, name: str, metadata: Sequence[tuple[str, str]]) -> None:
        present = self.tags.get(name)
        if present is None:
            present = tags_of(await self.ask("DescribeSecret", {"SecretId": name}), "Tags")
        change = self.extras.change(metadata, present)
        if change.remove:
            await self.ask("UntagResource", {"SecretId": name, "TagKeys": list(change.remove)})
        if change.put:
            await self.ask("TagResource", {"SecretId": name, "Tags": change.listed})


class SecretPerKey:
    """`one-to-one`: a secret for each key. Empty values are not held there."""

    traits = Traits(skips_empty=True)

    def __init__(self, given: DriverInput) -> None:
        if not isinstance(given.config, OneToOneConfig):
            raise TypeError(type(given.config).__name__)
        self._naming = given.naming
        self._secrets = _Secrets(given, given.config.region)

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:
        """Return the tags and the key id of a secret."""
        return self._secrets.extras.wanted(outgoing.metadata)

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - all are listed
        """Return the secrets whose names begin as the key schema does; values only of those that it makes.

        Raises:
            RemoteError: they can't be read, or are too many.
        """
        bounds = Bounds()
        listed: dict[str, Json] = {}
        prefix: list[JsonValue] = [{"Key": "name", "Values": [self._naming.prefix]}]
        body: Json = {"MaxResults": _LISTED_PAGE, **({"Filters": prefix} if self._naming.prefix else {})}
        async for page in pages(self._secrets.account, self._secrets.scope, f"{_TARGET}ListSecrets", body):
            for one in objects_of(page, "SecretList"):
                # What another service of the cloud keeps there can't be written or deleted by anybody else.
                if not one.get("OwningService"):
                    name = text_of(one, "Name")
                    bounds.add(name)
                    listed[name] = one
        ours = [text_of(one, "ARN") for name, one in listed.items() if self._naming.key_of(name) is not None]
        values = await self._values(ours)
        for name, (value, _) in values.items():
            bounds.add(name, value or "")
        self._secrets.tags = {name: tags_of(one, "Tags") for name, one in listed.items()}
        self._secrets.is_listed = True
        return {name: self._present(name, one, values.get(name)) for name, one in listed.items()}

    async def apply(self, change: Change) -> AsyncIterator[Written]:
        """Write and delete one by one: there is no other way.

        Raises:
            RemoteError: something of it wasn't done.
        """
        refusals = Refusals()
        for outgoing in change.put:
            try:
                version = await self._secrets.write(outgoing.name, outgoing.value, outgoing.metadata)
            except RemoteRefusedError as error:
                refusals.add(outgoing.name, error)
            else:
                yield Written(outgoing.name, version=version)
        for name in change.delete:
            await self._secrets.delete(name)
            yield Written(name, is_removed=True)
        refusals.tell()

    async def _values(self, ids: Sequence[str]) -> dict[str, tuple[str | None, str]]:
        """Return values, where they are texts, and their versions. What can't be read alone is left out."""
        found: dict[str, tuple[str | None, str]] = {}
        left = iter(ids)
        while batch := list(islice(left, _VALUES_AT_ONCE)):
            target = f"{_TARGET}BatchGetSecretValue"
            async for page in pages(
                self._secrets.account, self._secrets.scope, target, {"SecretIdList": list(batch)}
            ):
                for one in objects_of(page, "SecretValues"):
                    value = one.get("SecretString")
                    found[text_of(one, "Name")] = (
                        value if isinstance(value, str) else None,
                        text_of(one, "VersionId"),
                    )
        return found

    def _present(self, name: str, listed: Json, read: tuple[str | None, str] | None) -> Present:
        value, version = read or (None, _current_version(listed))
        extras = self._secrets.extras.found(str(listed.get("KmsKeyId") or ""), self._secrets.tags[name])
        return Present(value, version, extras)


class JsonSecret:
    """`many-to-one`: one secret that holds a JSON object of all keys, as they are."""

    traits = Traits(is_one_object=True)

    def __init__(self, given: DriverInput) -> None:
        if not isinstance(given.config, ManyToOneConfig):
            raise TypeError(type(given.config).__name__)
        self._name = given.naming.name_of(given.config.secret_name)
        self._secrets = _Secrets(given, given.config.region)

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:  # noqa: ARG002 - all keys share them
        """Return the tags and the key id of the secret."""
        return self._secrets.extras.wanted(())

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - one secret holds them all
        """Return what the object holds; a value that is no text is shown as JSON.

        Raises:
            ForeignContentError: the secret holds no object.
            RemoteError: it can't be read.
        """
        body: Json = {"SecretId": self._name}
        told, fault = await self._secrets.account.ask(self._secrets.scope, f"{_TARGET}GetSecretValue", body)
        if fault is not None:
            if fault.code == _NOT_THERE or _is_to_be_deleted(fault):
                self._secrets.is_listed = True
                return {}
            raise fault.error(f"GetSecretValue of {self._name}")
        extras = await self._extras()
        version = text_of(told, "VersionId")
        return {name: Present(value, version, extras) for name, value in _parsed(told).items()}

    async def apply(self, change: Change) -> AsyncIterator[Written]:
        """Write the whole object with one call; one that would be empty is deleted.

        Raises:
            RemoteError: it isn't done.
        """
        if not change.put and not change.delete:
            return
        version: str | None = None
        if change.whole:
            value = orjson.dumps(dict(change.whole), option=orjson.OPT_SORT_KEYS).decode()
            version = await self._secrets.write(self._name, value)
        else:
            await self._secrets.delete(self._name)
        for outgoing in change.put:
            yield Written(outgoing.name, version=version)
        for name in change.delete:
            yield Written(name, is_removed=True)

    async def _extras(self) -> Mapping[str, str] | None:
        extras = self._secrets.extras
        if extras.wanted(()) is None:
            return None
        described = await self._secrets.ask("DescribeSecret", {"SecretId": self._name})
        self._secrets.tags[self._name] = tags_of(described, "Tags")
        return extras.found(str(described.get("KmsKeyId") or ""), self._secrets.tags[self._name])


def _parsed(told: Json) -> Mapping[str, str]:
    try:
        content: JsonValue = orjson.loads(text_of(told, "SecretString"))
    except (orjson.JSONDecodeError, RemoteUnavailableError):
        raise ForeignContentError(f"Failed to import secrets. {_FOREIGN_FORMAT}") from None
    if not isinstance(content, dict):
        raise ForeignContentError(f"Failed to import secrets. {_FOREIGN_FORMAT}")
    bounds = Bounds()
    parsed = {
        name: value if isinstance(value, str) else orjson.dumps(value).decode()
        for name, value in content.items()
    }
    for name, value in parsed.items():
        bounds.add(name, value)
    return parsed


def _is_to_be_deleted(fault: CloudFault) -> bool:
    # Of many wrong states this is the one that can be helped, and only the text tells them apart.
    return fault.code == _WRONG_STATE and re.search(r"delet", fault.message) is not None


def _current_version(listed: Json) -> str | None:
    versions = listed.get("SecretVersionsToStages")
    stages = versions.items() if isinstance(versions, dict) else ()
    return next((version for version, at in stages if isinstance(at, list) and _CURRENT in at), None)


def _refusal(fault: CloudFault, action: str, value: str) -> RemoteError:
    hint = _HINTS.get(fault.code, "")
    if (
        fault.code in ("ValidationException", "InvalidParameterException")
        and len(value.encode()) > _VALUE_BYTES
    ):
        hint = "its value is longer than the 64 KiB that a secret holds"
    return fault.error(action, hint=hint, is_quotable=False)
