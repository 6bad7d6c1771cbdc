"""The destination `cloud-parameter-store`: each key is a parameter below a path (interface.md 2.1, wire.md 3.5)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, StringConstraints, TypeAdapter

from keybearer.wire.destinations.base import DestinationConfig, DestinationModel, KeySchema
from keybearer.wire.destinations.cloud import CloudOptions, Region
from keybearer.wire.key_schema import KEY_PLACEHOLDER

__all__ = ["CLOUD_PARAMETER_STORE", "ParameterStoreConfig", "ParameterStoreOptions"]

PATH_MAX = 2048


def _check_within_path(schema: str) -> str:
    _, _, after = schema.partition(KEY_PLACEHOLDER)
    if schema.startswith("/") or "/" in after:
        raise ValueError("Key schema extends the path: no slash at its start, and none after {{secretKey}}")
    return schema


class ParameterStoreConfig(DestinationConfig):
    """The region and the path, which begins and ends with a slash."""

    region: Region
    path: Annotated[
        str, StringConstraints(min_length=1, max_length=PATH_MAX, pattern=r"^/([/]|(([a-zA-Z0-9_-]+/)+))?$")
    ]


class ParameterStoreOptions(CloudOptions):
    """A key schema with slashes extends the path."""

    key_schema: Annotated[KeySchema, AfterValidator(_check_within_path)] | None = None


CLOUD_PARAMETER_STORE = DestinationModel(
    "cloud-parameter-store", "cloud", TypeAdapter(ParameterStoreConfig), ParameterStoreOptions
)
