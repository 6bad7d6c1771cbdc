"""AWS Systems Manager Parameter Store: parameters directly below a path of a region (wire.md section 3.5).

https://docs.aws.amazon.com/systems-manager/latest/APIReference and
https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html (2026-11-25).
One call writes one parameter. Tags are set apart, as a parameter that exists can't be overwritten together with some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, cast

from pydantic import AfterValidator, JsonValue, StringConstraints

from keybearer.destinations.cloud_app import CLOUD, CloudService
from keybearer.destinations.cloud_options import CloudOptions, Extras, Region, tags_of
from keybearer.destinations.cloud_signing import Scope
from keybearer.destinations.content import says, text_of, text_or_none, version_of
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.listing import Listing, LookUp, Row
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
from keybearer.destinations.remote import RemoteAnswer
from keybearer.destinations.session import Call
from keybearer.destinations.table import CustomPut, RemoveMany, Table
from keybearer.wire.destination_forms import DestinationConfig, KeySchema
from keybearer.wire.key_schema import KEY_PLACEHOLDER, KeyNaming

__all__ = ["CLOUD_PARAMETER_STORE", "ParameterStoreConfig", "ParameterStoreOptions"]

_PAGE = 10
_DESCRIBED_PAGE = 50
_DELETED_AT_ONCE = 10
_DEFAULT_KEY = "alias/aws/ssm"
_TAGGING = "AddTagsToResource", "RemoveTagsFromResource"
_NAME_CHARACTERS = 1011
"""Of a whole name; what the ARN takes of them isn't known here."""
_STANDARD_BYTES = 4096
_ADVANCED_BYTES = 8192
"""Of a value in a parameter of the advanced tier, which AWS charges for."""
_HINTS = {
    "HierarchyLevelLimitExceededException": "parameters lie 15 levels deep at most",
    "HierarchyTypeMismatchException": "there is one already that is no SecureString; delete it first",
    "InvalidKeyId": "there is no such key of encryption, or it can't be used",
    "ParameterLimitExceeded": "the account holds as many parameters as it may",
    "ParameterMaxVersionLimitExceeded": "its oldest version has a label; move the label",
    "ParameterPatternMismatchException": "the parameter has a pattern that the value doesn't match",
    "ValidationException": (
        "a name takes letters, digits, dots, hyphens, underscores and slashes, and begins with neither aws nor ssm"
    ),
}


_is_downgrade = says(400, "from the advanced-parameter tier")
"""The parameter is of the advanced tier, from which none goes back."""


def _check_within_path(schema: str) -> str:
    if schema.startswith("/") or "/" in schema.partition(KEY_PLACEHOLDER)[2]:
        raise ValueError("Key schema extends the path: no slash at its start, and none after {{secretKey}}")
    return schema


class ParameterStoreConfig(DestinationConfig):
    """The region and the path, which begins and ends with a slash."""

    region: Region
    path: Annotated[
        str, StringConstraints(min_length=1, max_length=2048, pattern=r"^/([/]|(([a-zA-Z0-9_-]+/)+))?$")
    ]


class ParameterStoreOptions(CloudOptions):
    """A key schema with slashes extends the path."""

    key_schema: Annotated[KeySchema, AfterValidator(_check_within_path)] | None = None


class _Parameters:
    """The parameters below the path, with the tags and the keys of encryption that were read."""

    def __init__(self, place: Place) -> None:
        config = place.config_as(ParameterStoreConfig)
        self._path = config.path
        self._listed_path = self._path + place.naming.prefix[: place.naming.prefix.rfind("/") + 1]
        scope = Scope("ssm", config.region)
        self._service = CloudService(place.session, scope, "AmazonSSM.", _HINTS, _TAGGING)
        self._extras = Extras(place.options_as(CloudOptions))
        self._listed: dict[str, Present] = {}
        self._key_ids: dict[str, str] = {}
        self._tags: dict[str, Mapping[str, str]] = {}

    def table(self) -> Table:
        tags = LookUp(call=self._ask_for_tags, present=self._tagged, is_compared_only=True)
        return Table(
            place=f"the path {self._listed_path}",
            listing=self._listing(),
            look_up=tags if self._extras.manages_tags else None,
            write=CustomPut(self._put),
            # Those that are gone already are told as invalid, which is no error.
            remove=RemoveMany(self._deletion, _DELETED_AT_ONCE),
            extras=lambda one: self._extras.wanted(one.metadata),
        )

    def _listing(self) -> Listing:
        """Return the listing of values, after that of keys of encryption where these are managed."""
        to = f"list the parameters below {self._listed_path}"
        body: dict[str, JsonValue] = {"Path": self._listed_path, "WithDecryption": True, "MaxResults": _PAGE}
        values = self._service.listing("GetParametersByPath", body, to, "Parameters", self._row)
        if self._extras.key_id is None:
            return values
        level: JsonValue = {"Key": "Path", "Option": "OneLevel", "Values": [self._listed_path[:-1] or "/"]}
        body = {"ParameterFilters": [level], "MaxResults": _DESCRIBED_PAGE}
        return self._service.listing("DescribeParameters", body, to, "Parameters", self._note_key_id, values)

    def _note_key_id(self, described: JsonValue) -> Row:
        name = self._name_of(described)
        self._key_ids[name] = text_or_none(described, "KeyId") or ""
        return Row(name, None)

    def _row(self, one: JsonValue) -> Row:
        name = self._name_of(one)
        extras = self._extras.found(self._key_ids.get(name, ""), {})
        self._listed[name] = Present(text_of(one, "Value"), version_of(one, "Version"), extras)
        return Row(name, self._listed[name])

    def _name_of(self, one: JsonValue) -> str:
        # At the root /NAME and NAME are the same parameter.
        return text_of(one, "Name").removeprefix(self._path)

    def _ask_for_tags(self, name: str) -> Call:
        to = f"list the tags of {self._path}{name}"
        return self._service.call("ListTagsForResource", self._resource(name), to)

    def _tagged(self, name: str, answer: RemoteAnswer) -> Present:
        tags = self._tags[name] = tags_of(answer.json(), "TagList")
        listed = self._listed[name]
        return Present(listed.value, listed.version, self._extras.found(self._key_ids.get(name, ""), tags))

    async def _put(self, one: Outgoing, _: bool | None) -> str | None:  # noqa: FBT001 - as `CustomPut` has it
        is_large = len(one.value.encode()) > _STANDARD_BYTES
        answer = await self._write(one, "Intelligent-Tiering" if is_large else None)
        if _is_downgrade(answer):
            answer = await self._write(one, "Advanced")
        version = version_of(answer.json(), "Version")
        if self._extras.manages_tags:
            await self._tag(one, is_new=version == "1")
        return version

    async def _write(self, one: Outgoing, tier: str | None) -> RemoteAnswer:
        body: dict[str, JsonValue] = {
            "Name": self._path + one.name,
            "Value": one.value,
            "Type": "SecureString",
            "KeyId": self._extras.key_id or _DEFAULT_KEY,
            "Overwrite": True,
            **({"Tier": tier} if tier else {}),
        }
        call = self._service.call("PutParameter", body, f"write the parameter {body['Name']}", is_write=True)
        return await self._service.session.ask(call, also=lambda found: not tier and _is_downgrade(found))

    async def _tag(self, one: Outgoing, *, is_new: bool) -> None:
        present = {} if is_new else self._tags.get(one.name)
        if present is None:
            answer = await self._service.session.ask(self._ask_for_tags(one.name))
            present = tags_of(answer.json(), "TagList")
        change = self._extras.change(one.metadata, present)
        await self._service.tag(self._resource(one.name), change, f"tag the parameter {self._path}{one.name}")
        self._tags[one.name] = self._extras.tags(one.metadata)

    def _resource(self, name: str) -> dict[str, JsonValue]:
        return {"ResourceType": "Parameter", "ResourceId": self._path + name}

    def _deletion(self, names: Sequence[str]) -> Call:
        body: dict[str, JsonValue] = {"Names": [self._path + name for name in names]}
        return self._service.call("DeleteParameters", body, f"delete parameters below {self._path}")


def _traits(config: DestinationConfig) -> Traits:
    path = config.path if isinstance(config, ParameterStoreConfig) else "/"
    rules = NameRules(
        pattern="[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*",
        words="letters, digits, dots, hyphens and underscores, with slashes between them",
        longest=max(0, _NAME_CHARACTERS - len(path)),
        reserved=("aws", "ssm") if path == "/" else (),
        value_bytes_max=_ADVANCED_BYTES,
    )
    return Traits(skips_empty=True, rules=rules)


def _name(config: DestinationConfig, naming: KeyNaming) -> str:
    given = cast("ParameterStoreConfig", config)
    return f"{given.region}{given.path}{naming.name_of('*')}"


CLOUD_PARAMETER_STORE = DestinationKind(
    name="cloud-parameter-store",
    title="AWS Parameter Store",
    app=CLOUD,
    can_import=True,
    config=config_of(ParameterStoreConfig),
    places=NamedPlaces(form="REGION/PATH/NAME", name=_name),
    options=ParameterStoreOptions,
    traits=_traits,
    open=lambda place: _Parameters(place).table(),
)
