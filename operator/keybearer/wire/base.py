"""What all wire models share: camelCase names, unknown keys ignored, no input in error texts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from keybearer.wire.limits import REQUEST_BODY_MAX_BYTES

__all__ = [
    "SLUG_PATTERN",
    "WHOLE",
    "Confidential",
    "Flag",
    "GivenInstant",
    "QueryFlag",
    "Slug",
    "WireInstant",
    "WireModel",
    "length_told",
    "to_slug",
    "write_instant",
]


class WireModel(BaseModel):
    """A body on the wire. Unknown keys are ignored (wire.md section 0), spelling is camelCase."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="ignore",
        hide_input_in_errors=True,
        frozen=True,
        defer_build=True,  # a process uses few of the bodies, and building a model takes its start a millisecond
        # A bound makes the parser look into texts: half of a surrogate pair is refused, which no UTF-8 holds.
        str_max_length=REQUEST_BODY_MAX_BYTES,
    )


Confidential = Annotated[str, Field(repr=False)]
"""A text that never shows in a repr. It does serialise, unlike pydantic's `SecretStr`, whose asterisks
would travel to the other side as the value."""


def write_instant(instant: datetime) -> str:
    """Return ISO 8601 in UTC with milliseconds and `Z` (wire.md section 0)."""
    # Half the time that strftime takes, and lists hold two for each secret.
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


WireInstant = Annotated[datetime, PlainSerializer(write_instant, return_type=str, when_used="json")]
"""ISO 8601 in UTC with milliseconds and `Z` (wire.md section 0)."""


def _read_flag(given: object) -> object:
    # The published parser takes `0` and nothing for false and any other text for true.
    if isinstance(given, str):
        return given.strip().lower() not in ("", "0", "false")
    return given


QueryFlag = Annotated[
    bool, BeforeValidator(_read_flag), WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "string"}]})
]
"""A boolean of a query: `true` or `false`, and what wire.md section 0 tells of other texts."""

Flag = Annotated[bool, Field(strict=True)]
"""A boolean of a body: no text and no number stands for one."""


def _read_whole(given: object) -> object:
    if isinstance(given, (bool, str)):
        msg = "Input should be a valid integer"
        raise ValueError(msg)  # noqa: TRY004 - what the parser takes for an issue of the field
    return given


WHOLE = BeforeValidator(_read_whole)
"""Of an integer of a body, after its bounds: no text and no boolean stands for one; 5.0 is 5."""


def _read_instant(given: object) -> object:
    if isinstance(given, str) and re.fullmatch(r"[\s0-9.+-]*", given):
        msg = "Input should be a valid datetime"
        raise ValueError(msg)
    return given


GivenInstant = Annotated[AwareDatetime, BeforeValidator(_read_instant)]
"""An instant of a query, in ISO 8601 with its offset; no number of seconds."""

SLUG_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"


def length_told(issue: ErrorDetails) -> str | None:
    """Return the bound that a text or a collection is against; None for any other issue.

    Where a validator of ours runs before the bound is checked, pydantic calls the characters of a text items.
    """
    bounds = issue.get("ctx") or {}
    # It names the type of collections, and calls all else a value.
    counted = "character" if bounds.get("field_type") == "Value" else "item"
    match issue["type"], bounds:
        case "too_short", {"min_length": least}:
            return f"must have at least {_counted(least, counted)}"
        case "too_long", {"max_length": most}:
            return f"must have at most {_counted(most, counted)}"
        case _:
            return None


def _counted(number: object, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def to_slug(text: object) -> object:
    """Fold case and trim, as the published service does before it judges a slug (wire.md section 4.2)."""
    if not isinstance(text, str):
        return text
    folded = text.strip().lower()
    if folded and not re.fullmatch(SLUG_PATTERN[1:-1], folded):
        msg = "can only contain letters, numbers, and hyphens"
        raise ValueError(msg)
    return folded


Slug = Annotated[
    str, BeforeValidator(to_slug), Field(json_schema_extra={"pattern": "^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$"})
]
"""Lower-case letters, digits and single hyphens, none at the ends; bounds are set where it is used."""
