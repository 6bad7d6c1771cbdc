"""What the two destinations of the cloud share: reading pages, and what is kept beside values (tags, a key id)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.destinations.cloud_app import CloudAccount
from keybearer.destinations.cloud_options import CloudOptions
from keybearer.destinations.cloud_signing import Scope
from keybearer.destinations.remote import RemoteUnavailableError

__all__ = ["Extras", "TagChange", "objects_of", "pages", "tags_of", "text_of"]

_PAGES_MAX = 4000
_KEY_ID = "keyId"
_TAG = "tag:"
_SYSTEM_TAGS = "aws:"
"""Nobody but the cloud sets or removes tags that begin so."""

Json = Mapping[str, JsonValue]


async def pages(account: CloudAccount, scope: Scope, target: str, body: Json) -> AsyncIterator[Json]:
    """Yield all pages of a list; a page may be empty and be followed by others.

    Raises:
        RemoteError: one of them can't be got, or there is no end to them.
    """
    token: JsonValue = None
    for _ in range(_PAGES_MAX):
        told, fault = await account.ask(
            scope, target, body if token is None else {**body, "NextToken": token}
        )
        if fault is not None:
            raise fault.error(target.partition(".")[2])
        yield told
        token = told.get("NextToken")
        if not token:
            return
    raise RemoteUnavailableError(f"the cloud has more than {_PAGES_MAX} pages for {target.partition('.')[2]}")


def objects_of(told: Json, field: str) -> list[Json]:
    """Return the objects of a list; an absent one is empty.

    Raises:
        RemoteUnavailableError: it is no such list.
    """
    listed = told.get(field)
    if listed is None:
        return []
    objects = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else None
    if objects is None or not isinstance(listed, list) or len(objects) != len(listed):
        raise RemoteUnavailableError(f"the cloud answers without a list of {field}")
    return list(objects)


def text_of(one: Json, field: str) -> str:
    """Return a text of an object.

    Raises:
        RemoteUnavailableError: it is none.
    """
    found = one.get(field)
    if not isinstance(found, str):
        raise RemoteUnavailableError(f"the cloud answers without {field}")
    return found


def tags_of(told: Json, field: str) -> dict[str, str]:
    """Return tags by key, without those of the cloud itself."""
    tags = {text_of(tag, "Key"): str(tag.get("Value") or "") for tag in objects_of(told, field)}
    return {key: value for key, value in tags.items() if not key.startswith(_SYSTEM_TAGS)}


@dataclass(frozen=True, slots=True)
class TagChange:
    """What has to be done so that an object has the tags that it should."""

    put: Mapping[str, str]
    remove: tuple[str, ...]

    @property
    def listed(self) -> list[JsonValue]:
        """What is put, as the cloud's bodies have it."""
        return [{"Key": key, "Value": value} for key, value in self.put.items()]


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

    def change(self, metadata: Iterable[tuple[str, str]], present: Mapping[str, str]) -> TagChange:
        """Return how tags become what they should be."""
        wanted = self.tags(metadata)
        put = {key: value for key, value in wanted.items() if present.get(key) != value}
        return TagChange(put, tuple(key for key in present if key not in wanted))

    def wanted(self, metadata: Iterable[tuple[str, str]]) -> Mapping[str, str] | None:
        """Return what is to stand beside a value; None where nothing is managed."""
        return self._written(self.key_id or "", self.tags(metadata))

    def found(self, key_id: str, tags: Mapping[str, str]) -> Mapping[str, str] | None:
        """Return what stands there, in the same form.

        Args:
            key_id: as the remote tells it: it may be the whole name of what the options name shortly.
            tags: of the object.
        """
        short = self.key_id or ""
        is_same = key_id == short or (short and key_id.endswith((f":{short}", f"/{short}")))
        return self._written(short if is_same else key_id, tags)

    def _written(self, key_id: str, tags: Mapping[str, str]) -> Mapping[str, str] | None:
        if self.key_id is None and not self.manages_tags:
            return None
        key = {} if self.key_id is None else {_KEY_ID: key_id}
        return key | ({f"{_TAG}{name}": value for name, value in tags.items()} if self.manages_tags else {})
