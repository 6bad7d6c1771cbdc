"""Secrets of a region's manager: one for each key, or one for all of them (wire.md section 3.5)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Literal

import orjson
from pydantic import BeforeValidator, JsonValue, StringConstraints

from keybearer.destinations.bounds import Bounds
from keybearer.destinations.cloud_app import CLOUD
from keybearer.destinations.cloud_extras import (
    Json,
    objects_of,
    pages,
    tags_of,
    text_of,
)
from keybearer.destinations.cloud_options import CloudOptions, Region
from keybearer.destinations.cloud_secret_calls import (
    NOT_THERE,
    TARGET,
    VALUE_BYTES,
    SecretCalls,
    is_to_be_deleted,
)
from keybearer.destinations.form import DestinationKind, Place, config_of
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import (
    Change,
    Destination,
    ForeignContentError,
    Outgoing,
    Present,
    Refused,
    Traits,
    Written,
)
from keybearer.destinations.remote import RemoteRefusedError, RemoteUnavailableError
from keybearer.wire.destination_forms import DestinationConfig, SyncOptions

__all__ = ["CLOUD_SECRETS_MANAGER", "ManyToOneConfig", "OneToOneConfig"]

_LISTED_PAGE = 100
_VALUES_AT_ONCE = 20
_CURRENT = "AWSCURRENT"
_FOREIGN_FORMAT = "Invalid format for Many-To-One mapping behavior: requires key/value configuration."


def _refuse(given: object) -> object:
    if given is not None:
        raise ValueError("secretName is for the mapping behavior many-to-one only")
    return given


class OneToOneConfig(DestinationConfig):
    """Each key is a secret."""

    region: Region
    mapping_behavior: Literal["one-to-one"]
    secret_name: Annotated[None, BeforeValidator(_refuse)] = None


class ManyToOneConfig(DestinationConfig):
    """All keys are one secret, a JSON object."""

    region: Region
    mapping_behavior: Literal["many-to-one"]
    secret_name: Annotated[
        str, StringConstraints(min_length=1, max_length=256, pattern=r"^[a-zA-Z0-9/_+=.@-]+$")
    ]


def _agree(config: DestinationConfig, options: SyncOptions) -> None:
    tags = isinstance(options, CloudOptions) and options.sync_secret_metadata_as_tags
    if isinstance(config, ManyToOneConfig) and tags:
        raise ValueError('Syncing secret metadata is not supported with "Many-to-One" mapping behavior.')


def _open(given: Place) -> Destination:
    """Return the driver for the mapping that is configured."""
    return _SecretPerKey(given) if isinstance(given.config, OneToOneConfig) else _JsonSecret(given)


class _SecretPerKey:
    """`one-to-one`: a secret for each key. Empty values are not held there."""

    traits = Traits(skips_empty=True, rules=NameRules(value_bytes_max=VALUE_BYTES))

    def __init__(self, given: Place) -> None:
        if not isinstance(given.config, OneToOneConfig):
            raise TypeError(type(given.config).__name__)
        self._naming = given.naming
        self._secrets = SecretCalls(given, given.config.region)

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
        async for page in pages(self._secrets.account, self._secrets.scope, f"{TARGET}ListSecrets", body):
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

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write and delete one by one: there is no other way.

        Raises:
            RemoteError: something of it wasn't done.
        """
        for outgoing in change.put:
            outcome: Written | Refused
            try:
                version = await self._secrets.write(outgoing.name, outgoing.value, outgoing.metadata)
                outcome = Written(outgoing.name, version=version)
            except RemoteRefusedError as error:
                outcome = Refused.by(error, outgoing.name)
            yield outcome
        for name in change.delete:
            await self._secrets.delete(name)
            yield Written(name, is_removed=True)

    async def _values(self, ids: Sequence[str]) -> dict[str, tuple[str | None, str]]:
        """Return values, where they are texts, and their versions. What can't be read alone is left out."""
        found: dict[str, tuple[str | None, str]] = {}
        left = iter(ids)
        while batch := list(islice(left, _VALUES_AT_ONCE)):
            target = f"{TARGET}BatchGetSecretValue"
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


class _JsonSecret:
    """`many-to-one`: one secret that holds a JSON object of all keys, as they are; those of others stay in it.

    The cloud has no write that holds only for what was read: what somebody else changes in between is lost.
    """

    traits = Traits(is_one_object=True)

    def __init__(self, given: Place) -> None:
        if not isinstance(given.config, ManyToOneConfig):
            raise TypeError(type(given.config).__name__)
        self._name = given.naming.name_of(given.config.secret_name)
        self._secrets = SecretCalls(given, given.config.region)

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:  # noqa: ARG002 - all keys share them
        """Return the tags and the key id of the secret."""
        return self._secrets.extras.wanted(())

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - one secret holds them all
        """Return what the object holds; a value that is no text is shown as JSON.

        Raises:
            ForeignContentError: the secret holds no object.
            RemoteError: it can't be read.
        """
        found = await self._read()
        if found is None:
            return {}
        extras = await self._extras()
        return {name: Present(_text(value), found.version, extras) for name, value in found.data.items()}

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write the whole object with one call; one that would be empty is deleted.

        Raises:
            ForeignContentError: the secret holds no object.
            RemoteError: it isn't done.
        """
        if not change.put and not change.delete:
            return
        try:
            found = await self._read()
        except ForeignContentError:
            if not change.replaces_foreign:
                raise
            found = None
        data = {} if found is None else dict(found.data)
        for name in change.delete:
            data.pop(name, None)
        data |= {one.name: one.value for one in change.put}
        version: str | None = None
        if data:
            _bound(data)
            value = orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()
            version = await self._secrets.write(self._name, value)
        elif found is not None:
            await self._secrets.delete(self._name)
        for outgoing in change.put:
            yield Written(outgoing.name, version=version)
        for name in change.delete:
            yield Written(name, is_removed=True)

    async def _read(self) -> _Found | None:
        body: Json = {"SecretId": self._name}
        told, fault = await self._secrets.account.ask(self._secrets.scope, f"{TARGET}GetSecretValue", body)
        if fault is None:
            return _Found(_parsed(told), text_of(told, "VersionId"))
        if fault.code == NOT_THERE or is_to_be_deleted(fault):
            self._secrets.is_listed = True
            return None
        raise fault.error(f"GetSecretValue of {self._name}")

    async def _extras(self) -> Mapping[str, str] | None:
        extras = self._secrets.extras
        if extras.wanted(()) is None:
            return None
        described = await self._secrets.ask("DescribeSecret", {"SecretId": self._name})
        self._secrets.tags[self._name] = tags_of(described, "Tags")
        return extras.found(str(described.get("KmsKeyId") or ""), self._secrets.tags[self._name])


@dataclass(frozen=True, slots=True)
class _Found:
    """What the one secret holds, as JSON read it."""

    data: Mapping[str, JsonValue] = field(repr=False)
    version: str


def _parsed(told: Json) -> Mapping[str, JsonValue]:
    try:
        content: JsonValue = orjson.loads(text_of(told, "SecretString"))
    except (orjson.JSONDecodeError, RemoteUnavailableError):
        raise ForeignContentError(f"Failed to import secrets. {_FOREIGN_FORMAT}") from None
    if not isinstance(content, dict):
        raise ForeignContentError(f"Failed to import secrets. {_FOREIGN_FORMAT}")
    _bound(content)
    return content


def _bound(data: Mapping[str, JsonValue]) -> None:
    bounds = Bounds()
    for name, value in data.items():
        bounds.add(name, _text(value))


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _current_version(listed: Json) -> str | None:
    versions = listed.get("SecretVersionsToStages")
    stages = versions.items() if isinstance(versions, dict) else ()
    return next((version for version, at in stages if isinstance(at, list) and _CURRENT in at), None)


CLOUD_SECRETS_MANAGER = DestinationKind(
    name="cloud-secrets-manager",
    title="AWS Secrets Manager",
    app=CLOUD,
    can_import=True,
    config=config_of(OneToOneConfig, ManyToOneConfig, by="mapping_behavior"),
    options=CloudOptions,
    agree=_agree,
    traits=lambda config: _SecretPerKey.traits if isinstance(config, OneToOneConfig) else _JsonSecret.traits,
    open=_open,
)
