"""What the two destinations of the app `cloud` share: regions, options, and what is kept beside values.

Options and regions are interface.md 2.1's. Beside a value are kept tags, and the id of the key that encrypts it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from keybearer.destinations.content import field_of, text_of
from keybearer.destinations.remote import RemoteUnavailableError
from keybearer.wire.base import Flag
from keybearer.wire.bodies import Zero
from keybearer.wire.destination_forms import SyncOptions
from keybearer.wire.strict import StrictModel

__all__ = ["CloudOptions", "CloudTag", "Extras", "Region", "tags_of"]

KEY_ID_MAX = 256
TAGS_MAX = 50
TAG_KEY_MAX = 128
TAG_VALUE_MAX = 256
_SYSTEM_TAGS = "aws:"
"""Nobody but AWS sets or removes tags that begin so."""
_TAG_PATTERN = r"^[\p{L}\p{Z}\p{N}_.:/=+@-]*$"


class Region(StrEnum):
    """Where secrets can go (interface.md 2.1)."""

    US_EAST_1 = "us-east-1"
    US_EAST_2 = "us-east-2"
    US_WEST_1 = "us-west-1"
    US_WEST_2 = "us-west-2"
    US_GOV_EAST_1 = "us-gov-east-1"
    US_GOV_WEST_1 = "us-gov-west-1"
    AF_SOUTH_1 = "af-south-1"
    AP_EAST_1 = "ap-east-1"
    AP_SOUTH_1 = "ap-south-1"
    AP_SOUTH_2 = "ap-south-2"
    AP_NORTHEAST_1 = "ap-northeast-1"
    AP_NORTHEAST_2 = "ap-northeast-2"
    AP_NORTHEAST_3 = "ap-northeast-3"
    AP_SOUTHEAST_1 = "ap-southeast-1"
    AP_SOUTHEAST_2 = "ap-southeast-2"
    AP_SOUTHEAST_3 = "ap-southeast-3"
    AP_SOUTHEAST_4 = "ap-southeast-4"
    CA_CENTRAL_1 = "ca-central-1"
    EU_CENTRAL_1 = "eu-central-1"
    EU_CENTRAL_2 = "eu-central-2"
    EU_WEST_1 = "eu-west-1"
    EU_WEST_2 = "eu-west-2"
    EU_WEST_3 = "eu-west-3"
    EU_SOUTH_1 = "eu-south-1"
    EU_SOUTH_2 = "eu-south-2"
    EU_NORTH_1 = "eu-north-1"
    ME_SOUTH_1 = "me-south-1"
    ME_CENTRAL_1 = "me-central-1"
    SA_EAST_1 = "sa-east-1"


def _check_tag_text(text: str) -> str:
    # Letters, separators and digits of all scripts, as the cloud's own rule has it.
    if any(
        unicodedata.category(character)[0] not in "LZN" and character not in "_.:/=+-@" for character in text
    ):
        raise ValueError("can only contain letters, digits, white space and any of the following: _.:/=+@-")
    return text


class CloudTag(StrictModel):
    """A tag that all that is synced gets."""

    key: Annotated[
        str,
        Field(min_length=1, max_length=TAG_KEY_MAX, json_schema_extra={"pattern": _TAG_PATTERN}),
        AfterValidator(_check_tag_text),
    ]
    value: Annotated[
        str,
        Field(max_length=TAG_VALUE_MAX, json_schema_extra={"pattern": _TAG_PATTERN}),
        AfterValidator(_check_tag_text),
    ]


def _check_unique(tags: Sequence[CloudTag]) -> Sequence[CloudTag]:
    if len({tag.key for tag in tags}) != len(tags):
        raise ValueError("Tag keys must be unique")
    return tags


class CloudOptions(SyncOptions):
    """Options of both destinations.

    Attributes:
        key_id: id or alias of the key that encrypts; each destination has a default of the account.
        tags: set on all that is synced.
        sync_secret_metadata_as_tags: whether pairs of the secret itself become tags; `tags` win over them.
    """

    key_id: (
        Annotated[
            str,
            StringConstraints(min_length=1, max_length=KEY_ID_MAX, pattern=r"^[a-zA-Z0-9:/_-]+$"),
            Zero.COUNTS,
        ]
        | None
    ) = None
    tags: (
        Annotated[tuple[CloudTag, ...], Field(max_length=TAGS_MAX), AfterValidator(_check_unique)] | None
    ) = None
    sync_secret_metadata_as_tags: Flag | None = None


def tags_of(content: JsonValue, field: str) -> dict[str, str]:
    """Return tags by key, without those of AWS itself.

    Raises:
        RemoteUnavailableError: the field holds something else.
    """
    listed = field_of(content, field) or []
    if not isinstance(listed, list):
        raise RemoteUnavailableError(f"AWS answers without a list of {field}")
    tags = {text_of(tag, "Key"): str(field_of(tag, "Value") or "") for tag in listed}
    return {key: value for key, value in tags.items() if not key.startswith(_SYSTEM_TAGS)}


class Extras:
    """What options say about the things beside values."""

    def __init__(self, options: CloudOptions) -> None:
        self.key_id = options.key_id
        self._tags = {tag.key: tag.value for tag in options.tags or ()}
        self._with_metadata = bool(options.sync_secret_metadata_as_tags)
        self.manages_tags = options.tags is not None or self._with_metadata

    def tags(self, metadata: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Return the tags to be set; those of the options win over the secret's own pairs."""
        return {**(dict(metadata) if self._with_metadata else {}), **self._tags}

    def change(
        self, metadata: Iterable[tuple[str, str]], present: Mapping[str, str]
    ) -> tuple[list[JsonValue], list[JsonValue]]:
        """Return the tags to be set, as AWS's bodies have them, and the keys of those to be removed."""
        wanted = self.tags(metadata)
        put = {key: value for key, value in wanted.items() if present.get(key) != value}
        return [{"Key": key, "Value": put[key]} for key in put], [key for key in present if key not in wanted]

    def wanted(self, metadata: Iterable[tuple[str, str]]) -> Mapping[str, str] | None:
        """Return what is to be kept beside a value; None where nothing is managed."""
        return self._written(self.key_id or "", self.tags(metadata))

    def found(self, key_id: str, tags: Mapping[str, str]) -> Mapping[str, str] | None:
        """Return what is kept there, in the same form.

        Args:
            key_id: as AWS tells it: it may be the whole name of what the options name shortly.
            tags: of the object.
        """
        short = self.key_id or ""
        is_same = key_id == short or (short and key_id.endswith((f":{short}", f"/{short}")))
        return self._written(short if is_same else key_id, tags)

    def _written(self, key_id: str, tags: Mapping[str, str]) -> Mapping[str, str] | None:
        if self.key_id is None and not self.manages_tags:
            return None
        key = {} if self.key_id is None else {"keyId": key_id}
        return key | ({f"tag:{name}": value for name, value in tags.items()} if self.manages_tags else {})
