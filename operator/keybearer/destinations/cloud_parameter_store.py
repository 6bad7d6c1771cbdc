"""Parameters below a path (wire.md section 3.5).

https://docs.aws.amazon.com/systems-manager/latest/APIReference. One call writes one parameter; what it held is not
asked for. Tags travel apart, as a parameter that exists can't be overwritten with some.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import islice
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from keybearer.destinations.bounds import Bounds
from keybearer.destinations.cloud_app import CLOUD, CloudAccount
from keybearer.destinations.cloud_calls import CloudFault
from keybearer.destinations.cloud_extras import (
    Extras,
    Json,
    objects_of,
    pages,
    tags_of,
    text_of,
)
from keybearer.destinations.cloud_options import CloudOptions, Region
from keybearer.destinations.cloud_signing import Scope
from keybearer.destinations.form import DestinationKind, Place, config_of
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import (
    Change,
    Outgoing,
    Present,
    Refused,
    Traits,
    Written,
)
from keybearer.destinations.remote import RemoteError, RemoteRefusedError
from keybearer.wire.destination_forms import DestinationConfig, KeySchema
from keybearer.wire.key_schema import KEY_PLACEHOLDER

__all__ = ["CLOUD_PARAMETER_STORE", "ParameterStoreConfig", "ParameterStoreOptions"]

_TARGET = "AmazonSSM."
_PAGE = 10
_DESCRIBED_PAGE = 50
_DELETED_AT_ONCE = 10
_DEFAULT_KEY = "alias/aws/ssm"
_VALUE_BYTES = 4096
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


def _check_within_path(schema: str) -> str:
    _, _, after = schema.partition(KEY_PLACEHOLDER)
    if schema.startswith("/") or "/" in after:
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


class _ParameterStore:
    """All parameters directly below one path of a region. Empty values are not held there."""

    traits = Traits(skips_empty=True, rules=NameRules(value_bytes_max=_VALUE_BYTES))

    def __init__(self, given: Place) -> None:
        if not isinstance(given.config, ParameterStoreConfig) or not isinstance(given.options, CloudOptions):
            raise TypeError(type(given.config).__name__)
        self._path = given.config.path
        # A key schema with slashes extends the path.
        self._listed = self._path + given.naming.prefix[: given.naming.prefix.rfind("/") + 1]
        self._scope = Scope("ssm", given.config.region)
        self._extras = Extras(given.options)
        self._account = CloudAccount(given.session.credentials, given.session.context)
        self._tags: dict[str, Mapping[str, str]] = {}

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str] | None:
        """Return the tags and the key id of a parameter."""
        return self._extras.wanted(outgoing.metadata)

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:
        """Return all parameters of the path; tags only of those that are named.

        Raises:
            RemoteError: they can't be read, or are too many.
        """
        key_ids = await self._key_ids()
        found: dict[str, Present] = {}
        bounds = Bounds()
        body: Json = {"Path": self._listed, "Recursive": False, "WithDecryption": True, "MaxResults": _PAGE}
        async for page in pages(self._account, self._scope, f"{_TARGET}GetParametersByPath", body):
            for one in objects_of(page, "Parameters"):
                full, value = text_of(one, "Name"), text_of(one, "Value")
                bounds.add(full, value)
                name = self._name_of(full)
                if name is not None:
                    found[name] = Present(value, _version(one))
        if self._extras.manages_tags:
            for name in names:
                if name in found:
                    self._tags[name] = await self._tags_of(name)
        return {
            name: Present(
                one.value,
                one.version,
                self._extras.found(key_ids.get(name, ""), self._tags.get(name, {})),
            )
            for name, one in found.items()
        }

    async def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Put one by one, then delete ten by ten.

        Raises:
            RemoteError: something of it wasn't done.
        """
        for outgoing in change.put:
            outcome: Written | Refused
            try:
                outcome = Written(outgoing.name, version=await self._put(outgoing))
            except RemoteRefusedError as error:
                outcome = Refused.by(error, outgoing.name)
            yield outcome
        left = iter(change.delete)
        while batch := list(islice(left, _DELETED_AT_ONCE)):
            # Those that are gone already are told as invalid, which is no error.
            await self._ask("DeleteParameters", {"Names": [self._path + name for name in batch]})
            for name in batch:
                yield Written(name, is_removed=True)

    def _name_of(self, full: str) -> str | None:
        if full.startswith(self._path):
            return full[len(self._path) :]
        # At the root /NAME and NAME are the same parameter.
        return full if self._path == "/" else None

    async def _put(self, outgoing: Outgoing) -> str | None:
        body: Json = {
            "Name": self._path + outgoing.name,
            "Value": outgoing.value,
            "Type": "SecureString",
            "KeyId": self._extras.key_id or _DEFAULT_KEY,
            "Overwrite": True,
        }
        told, fault = await self._account.ask(self._scope, f"{_TARGET}PutParameter", body)
        if fault is not None:
            raise _refusal(fault, outgoing, self._path)
        version = _version(told)
        if self._extras.manages_tags:
            await self._tag(outgoing, is_new=version == "1")
        return version

    async def _tag(self, outgoing: Outgoing, *, is_new: bool) -> None:
        name = outgoing.name
        present = self._tags.get(name)
        if present is None:
            present = {} if is_new else await self._tags_of(name)
        change = self._extras.change(outgoing.metadata, present)
        if change.remove:
            await self._ask(
                "RemoveTagsFromResource", {**self._resource(name), "TagKeys": list(change.remove)}
            )
        if change.put:
            await self._ask("AddTagsToResource", {**self._resource(name), "Tags": change.listed})
        self._tags[name] = self._extras.tags(outgoing.metadata)

    async def _tags_of(self, name: str) -> Mapping[str, str]:
        return tags_of(await self._ask("ListTagsForResource", self._resource(name)), "TagList")

    def _resource(self, name: str) -> Json:
        return {"ResourceType": "Parameter", "ResourceId": self._path + name}

    async def _key_ids(self) -> Mapping[str, str]:
        if self._extras.key_id is None:
            return {}
        found: dict[str, str] = {}
        level: Json = {"Key": "Path", "Option": "OneLevel", "Values": [self._listed.rstrip("/") or "/"]}
        body: Json = {"ParameterFilters": [dict(level)], "MaxResults": _DESCRIBED_PAGE}
        bounds = Bounds()
        async for page in pages(self._account, self._scope, f"{_TARGET}DescribeParameters", body):
            for one in objects_of(page, "Parameters"):
                full = text_of(one, "Name")
                bounds.add(full)
                name = self._name_of(full)
                if name is not None:
                    found[name] = str(one.get("KeyId") or "")
        return found

    async def _ask(self, operation: str, body: Json) -> Json:
        told, fault = await self._account.ask(self._scope, f"{_TARGET}{operation}", body)
        if fault is not None:
            raise fault.error(operation)
        return told


def _version(one: Json) -> str | None:
    version = one.get("Version")
    return str(version) if isinstance(version, int) else None


def _refusal(fault: CloudFault, outgoing: Outgoing, path: str) -> RemoteError:
    hint = _HINTS.get(fault.code, "")
    return fault.error(f"PutParameter of {path}{outgoing.name}", hint=hint, is_quotable=False)


CLOUD_PARAMETER_STORE = DestinationKind(
    name="cloud-parameter-store",
    title="AWS Parameter Store",
    app=CLOUD,
    can_import=True,
    config=config_of(ParameterStoreConfig),
    options=ParameterStoreOptions,
    traits=lambda _: _ParameterStore.traits,
    open=_ParameterStore,
)
