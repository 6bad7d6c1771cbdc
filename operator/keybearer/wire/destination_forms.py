"""What the bodies of all destinations share: the options of a sync, and the base of every configuration."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from keybearer.wire.base import Flag
from keybearer.wire.key_schema import KEY_SCHEMA_PATTERN, check_key_schema
from keybearer.wire.limits import KEY_SCHEMA_MAX
from keybearer.wire.strict import StrictModel

__all__ = [
    "HOW_WRITTEN",
    "DestinationConfig",
    "ImportBehavior",
    "InitialSyncBehavior",
    "KeySchema",
    "SyncOptions",
]


class InitialSyncBehavior(StrEnum):
    """How the first sync deals with what the destination holds already."""

    OVERWRITE_DESTINATION = "overwrite-destination"
    IMPORT_PRIORITIZE_SOURCE = "import-prioritize-source"
    IMPORT_PRIORITIZE_DESTINATION = "import-prioritize-destination"


class ImportBehavior(StrEnum):
    """Which value stays where both sides have a key (wire.md section 3.1)."""

    PRIORITIZE_SOURCE = "prioritize-source"
    PRIORITIZE_DESTINATION = "prioritize-destination"


KeySchema = Annotated[
    str,
    Field(max_length=KEY_SCHEMA_MAX, json_schema_extra={"pattern": KEY_SCHEMA_PATTERN}),
    AfterValidator(check_key_schema),
]
"""`{{secretKey}}` once, perhaps `{{environment}}`, and letters, digits, `_`, `-`, `/` around them."""


class SyncOptions(StrictModel):
    """Options that every destination takes; those that can import narrow nothing, others only overwrite."""

    initial_sync_behavior: InitialSyncBehavior
    key_schema: KeySchema | None = None
    disable_secret_deletion: Flag | None = None


HOW_WRITTEN = "how something is written, not where"
"""Of a field of a configuration: two that differ in such fields alone name the same place."""


class DestinationConfig(StrictModel):
    """Where within the remote the secrets go; each destination has its own fields."""

    def where(self) -> dict[str, JsonValue]:
        """Return what of it tells one place from another."""
        how = {name for name, field in type(self).model_fields.items() if HOW_WRITTEN in field.metadata}
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=how)
