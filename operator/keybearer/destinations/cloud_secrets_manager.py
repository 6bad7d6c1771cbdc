"""AWS Secrets Manager: a secret of a region for each key, or one for all of them (wire.md section 3.5).

https://docs.aws.amazon.com/secretsmanager/latest/apireference (2026-11-25). A secret that exists is written with one
call. A deleted one can be restored for 30 days, and its name can't be had otherwise: it is restored and written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import BeforeValidator, JsonValue, StringConstraints

from keybearer.base.ids import new_uuid
from keybearer.destinations.cloud_answers import code_of
from keybearer.destinations.cloud_app import CLOUD, CloudService
from keybearer.destinations.cloud_options import CloudOptions, Extras, Region, tags_of
from keybearer.destinations.cloud_signing import Scope
from keybearer.destinations.content import exact_object, field_of, text_of, text_or_none
from keybearer.destinations.document import Document, DocumentChange, Found
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.listing import Listing, Row
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import ForeignContentError, Present, Traits
from keybearer.destinations.remote import RemoteAnswer, RemoteRefusedError, RemoteUnavailableError
from keybearer.destinations.session import Call
from keybearer.destinations.table import CustomPut, Remove, Table
from keybearer.wire.destination_forms import DestinationConfig, SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = ["CLOUD_SECRETS_MANAGER", "ManyToOneConfig", "OneToOneConfig"]

_LISTED_PAGE = 100
_VALUES_AT_ONCE = 20
_CURRENT = "AWSCURRENT"
_NOT_THERE = "ResourceNotFoundException"
_THERE = "ResourceExistsException"
_WRONG_STATE = "InvalidRequestException"
_DEFAULT_KEY = "alias/aws/secretsmanager"
_VALUE_BYTES = 65_536
_STEPS = 4
"""Not there: create; there after all: write; to be deleted: restore and write."""
_HINTS = {
    "EncryptionFailure": "there is no such key of encryption, or it can't be used",
    "DecryptionFailure": "its key of encryption can't be used",
    "LimitExceededException": "the account holds as many secrets, or this one as many versions, as it may",
    "ValidationException": "a name takes letters, digits and /_+=.@-",
    "InvalidParameterException": "a name takes letters, digits and /_+=.@-, and tags likewise with spaces and colons",
}
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


class _Secrets:
    """What both mappings do with secrets, by their names."""

    def __init__(self, place: Place, region: Region) -> None:
        self._naming = place.naming
        self._extras = Extras(place.options_as(CloudOptions))
        scope = Scope("secretsmanager", region)
        self._service = CloudService(place.session, scope, "secretsmanager.", _HINTS)
        self._tags: dict[str, Mapping[str, str]] = {}

    async def _put(
        self, name: str, value: str, metadata: Sequence[tuple[str, str]], *, is_there: bool
    ) -> str:
        """Return the id of the version that is current now, in a secret with the tags that it should have."""
        for _ in range(_STEPS):
            version = new_uuid()
            body: dict[str, JsonValue] = {"ClientRequestToken": version, "SecretString": value}
            body |= self._names(name) if is_there else self._creates(name, metadata)
            operation = "UpdateSecret" if is_there else "CreateSecret"
            call = self._service.call(operation, body, f"write the secret {name}", is_write=True)
            answer = await self._service.session.ask(call, also=partial(_is_otherwise, is_there))
            if code_of(answer) == "":
                if is_there and self._extras.manages_tags:
                    await self._tag(name, metadata)
                self._tags[name] = self._extras.tags(metadata)
                return version
            is_there = await self._restore(name) if _is_to_be_deleted(answer) else not is_there
        raise RemoteUnavailableError(f"the secret {name} is still being deleted; its name is free in a while")

    def _names(self, name: str) -> dict[str, JsonValue]:
        return {"SecretId": name, **({"KmsKeyId": self._extras.key_id} if self._extras.key_id else {})}

    def _creates(self, name: str, metadata: Sequence[tuple[str, str]]) -> dict[str, JsonValue]:
        tags, _ = self._extras.change(metadata, {})
        key = self._extras.key_id or _DEFAULT_KEY
        return {"Name": name, "KmsKeyId": key, **({"Tags": tags} if tags else {})}

    def _deletion(self, name: str) -> Call:
        """Return what schedules a secret for deletion, in 30 days."""
        return self._service.call("DeleteSecret", {"SecretId": name}, f"delete the secret {name}")

    async def _restore(self, name: str) -> bool:
        call = self._service.call("RestoreSecret", {"SecretId": name}, f"restore the secret {name}")
        answer = await self._service.session.ask(
            call, also=lambda found: code_of(found) in (_NOT_THERE, _WRONG_STATE)
        )
        return code_of(answer) == ""

    def _found(self, described: JsonValue) -> Mapping[str, str] | None:
        """Return what is kept beside a value; the tags are noted by the name of the secret."""
        tags = self._tags[text_of(described, "Name")] = tags_of(described, "Tags")
        return self._extras.found(text_or_none(described, "KmsKeyId") or "", tags)

    async def _describe(self, name: str) -> Mapping[str, str] | None:
        to = f"describe the secret {name}"
        return self._found((await self._service.ask("DescribeSecret", {"SecretId": name}, to)).json())

    async def _tag(self, name: str, metadata: Sequence[tuple[str, str]]) -> None:
        if name not in self._tags:
            await self._describe(name)
        change = self._extras.change(metadata, self._tags[name])
        await self._service.tag({"SecretId": name}, change, f"tag the secret {name}")


class _SecretPerKey(_Secrets):
    """`one-to-one`: names are listed, and then the values of those that the key schema makes are asked for."""

    def __init__(self, place: Place, region: Region) -> None:
        super().__init__(place, region)
        self._ids: list[JsonValue] = []
        self._asked: list[JsonValue] = []
        self._listed: dict[str, Mapping[str, str] | None] = {}

    def table(self) -> Table:
        prefix: list[JsonValue] = [{"Key": "name", "Values": [self._naming.prefix]}]
        filters: dict[str, JsonValue] = {"Filters": prefix} if self._naming.prefix else {}
        return Table(
            place="the secrets of the region",
            listing=self._service.listing(
                "ListSecrets",
                {"MaxResults": _LISTED_PAGE, **filters},
                "list the secrets of the region",
                "SecretList",
                self._row,
                then=Listing(
                    first=self._values,
                    rows=lambda page: field_of(page, "SecretValues") or [],
                    row=self._value,
                    following=self._values,
                ),
            ),
            write=CustomPut(
                lambda one, is_known: self._put(
                    one.name, one.value, one.metadata, is_there=is_known is not False
                )
            ),
            remove=Remove(self._deletion, is_gone=_is_gone),
            extras=lambda one: self._extras.wanted(one.metadata),
        )

    def _row(self, one: JsonValue) -> Row | None:
        if field_of(one, "OwningService"):
            # What another service of AWS keeps there can't be written or deleted by anybody else.
            return None
        name = text_of(one, "Name")
        if self._naming.key_of(name) is not None:
            self._ids.append(text_of(one, "ARN"))
        extras = self._listed[name] = self._found(one)
        return Row(name, Present(None, _current_version(one), extras))

    def _values(self, answer: RemoteAnswer | None = None, _: int = 0) -> Call | None:
        """Return the call for what an answer left out, or else for the values of the next names."""
        token = None if answer is None else text_or_none(answer.json(), "NextToken")
        if not token:
            self._asked, self._ids = self._ids[:_VALUES_AT_ONCE], self._ids[_VALUES_AT_ONCE:]
        body: dict[str, JsonValue] = {"SecretIdList": self._asked, **({"NextToken": token} if token else {})}
        return self._service.call("BatchGetSecretValue", body, "read the secrets") if self._asked else None

    def _value(self, one: JsonValue) -> Row:
        name, value = text_of(one, "Name"), text_or_none(one, "SecretString")
        return Row(name, Present(value, text_of(one, "VersionId"), self._listed.get(name)))


class _JsonSecret(_Secrets):
    """`many-to-one`: one secret that holds a JSON object of all keys, as they are; those of others stay in it.

    AWS has no write that holds only for what was read: what somebody else changes in between is lost.
    """

    def __init__(self, place: Place, config: ManyToOneConfig) -> None:
        super().__init__(place, config.region)
        self._name = self._naming.name_of(config.secret_name)
        self._is_there = True

    def document(self) -> Document:
        return Document(
            place=f"the secret {self._name}",
            read=self._read,
            write=self._write,
            extras=lambda _: self._extras.wanted(()),
            is_versioned=True,
        )

    async def _read(self) -> Found | None:
        call = self._service.call("GetSecretValue", {"SecretId": self._name}, f"read the secret {self._name}")
        answer = await self._service.session.ask(call, also=_is_gone)
        self._is_there = not _is_gone(answer)
        if not self._is_there:
            return None
        content = answer.json()
        data = _parsed(text_or_none(content, "SecretString") or "")
        extras = None if self._extras.wanted(()) is None else await self._describe(self._name)
        return Found(data, text_of(content, "VersionId"), extras)

    async def _write(self, change: DocumentChange) -> Found | None:
        version = None
        if change.whole:
            value = json.dumps(change.whole, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
            if (size := len(value.encode())) > _VALUE_BYTES:
                raise RemoteRefusedError(
                    f"the secret {self._name} would have {size:,} bytes, and AWS takes 64 KiB at most; sync a "
                    "smaller folder to it, or use the mapping behavior one-to-one"
                )
            version = await self._put(self._name, value, (), is_there=self._is_there)
            self._is_there = True
        elif change.found is not None:
            await self._service.session.ask(self._deletion(self._name), also=_is_gone)
        return Found(change.whole, version, self._extras.wanted(()))


def _parsed(text: str) -> Mapping[str, JsonValue]:
    content = exact_object(text)
    if content is None:
        raise ForeignContentError(f"Failed to import secrets. {_FOREIGN_FORMAT}")
    return content


def _current_version(listed: JsonValue) -> str | None:
    versions = field_of(listed, "SecretVersionsToStages")
    stages = versions.items() if isinstance(versions, dict) else ()
    return next((version for version, at in stages if isinstance(at, list) and _CURRENT in at), None)


def _is_to_be_deleted(answer: RemoteAnswer) -> bool:
    # Of many wrong states this is the one that can be helped, and only the text tells them apart.
    return code_of(answer) == _WRONG_STATE and b"delet" in answer.body


def _is_gone(answer: RemoteAnswer) -> bool:
    return code_of(answer) == _NOT_THERE or _is_to_be_deleted(answer)


def _is_otherwise(is_there: bool, answer: RemoteAnswer) -> bool:  # noqa: FBT001 - bound before
    """Return whether a write was refused for what is known of the secret, so that another one may do."""
    return code_of(answer) == (_NOT_THERE if is_there else _THERE) or _is_to_be_deleted(answer)


def _traits(config: DestinationConfig) -> Traits:
    if isinstance(config, ManyToOneConfig):
        return Traits(is_one_object=True)
    rules = NameRules(
        pattern="[A-Za-z0-9/_+=.@-]+",
        words="letters, digits and /_+=.@-",
        longest=512,
        value_bytes_max=_VALUE_BYTES,
    )
    return Traits(skips_empty=True, rules=rules)


def _open(place: Place) -> Table | Document:
    if isinstance(place.config, ManyToOneConfig):
        return _JsonSecret(place, place.config).document()
    return _SecretPerKey(place, place.config_as(OneToOneConfig).region).table()


def _name(config: DestinationConfig, naming: KeyNaming) -> str:
    match config:
        case OneToOneConfig(region=region):
            return f"{region}/{naming.name_of('*')}"
        case ManyToOneConfig(region=region, secret_name=name):
            return f"{region}/{naming.name_of(name)}"
        case _:
            raise TypeError(type(config).__name__)


CLOUD_SECRETS_MANAGER = DestinationKind(
    name="cloud-secrets-manager",
    title="AWS Secrets Manager",
    app=CLOUD,
    can_import=True,
    config=config_of(OneToOneConfig, ManyToOneConfig, by="mapping_behavior"),
    places=NamedPlaces(form="REGION/NAME", name=_name),
    options=CloudOptions,
    agree=_agree,
    traits=_traits,
    open=_open,
)
