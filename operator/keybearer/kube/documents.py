"""Bodies as they travel: media types, what a request names, what an answer holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson
from pydantic import JsonValue

from keybearer.kube.errors import UnavailableError
from keybearer.kube.resources import JsonObject, ObjectKey, Resource

__all__ = [
    "APPLY",
    "MERGE_PATCH",
    "METADATA",
    "METADATA_LIST",
    "PLAIN",
    "POST",
    "POST_FOR_METADATA",
    "named",
    "parse_object",
    "with_metadata",
]

_JSON = "application/json"
_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

PLAIN: Final = {"Accept": _JSON}
METADATA: Final = {"Accept": _METADATA}
METADATA_LIST: Final = {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
POST: Final = {"Accept": _JSON, "Content-Type": _JSON}
POST_FOR_METADATA: Final = {"Accept": _METADATA, "Content-Type": _JSON}
APPLY: Final = {"Accept": _METADATA, "Content-Type": "application/apply-patch+yaml"}  # JSON is YAML
MERGE_PATCH: Final = {"Accept": _METADATA, "Content-Type": "application/merge-patch+json"}


def named(
    resource: Resource, key: ObjectKey, body: Mapping[str, JsonValue], *, uid: str | None = None
) -> JsonObject:
    """Return the body with apiVersion, kind, name, namespace and (when given) uid written into it."""
    metadata: JsonObject = {"name": key.name}
    if resource.namespaced:
        metadata["namespace"] = key.namespace
    if uid is not None:
        metadata["uid"] = uid
    whole = with_metadata(body, metadata)
    whole["apiVersion"] = resource.api_version
    whole["kind"] = resource.kind
    return whole


def with_metadata(body: Mapping[str, JsonValue], metadata: Mapping[str, JsonValue]) -> JsonObject:
    """Return the body with these keys in its metadata; the body itself stays as it was."""
    given = body.get("metadata")
    return {**body, "metadata": {**(given if isinstance(given, dict) else {}), **metadata}}


def parse_object(body: bytes) -> JsonObject:
    """Return the object of an answer.

    Raises:
        UnavailableError: it is none: whatever answered is not the API server, or not whole.
    """
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        # Not chained: the decoder's error carries the whole body.
        raise UnavailableError("the API server's answer is no JSON") from None
    if not isinstance(parsed, dict):
        raise UnavailableError("the API server's answer is no object")
    return parsed
