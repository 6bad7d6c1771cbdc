"""The kinds of fields that strict shapes are made of: exact types, nothing read into another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

__all__ = [
    "Count",
    "Id",
    "Instant",
    "Path",
    "Shape",
    "Slug",
    "Uuid",
    "Version",
    "listed",
    "message_and",
    "only",
    "shape",
]

Shape = type[BaseModel]
_CONFIG = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

Instant = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$")]
Id = Annotated[str, Field(min_length=1)]
Uuid = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Path = Annotated[str, Field(pattern=r"^/")]
Count = Annotated[int, Field(ge=0)]
Version = Annotated[int, Field(ge=1)]


def shape(name: str, always: Mapping[str, Any], maybe: Mapping[str, Any] | None = None) -> Shape:
    """Return a model with the fields that are always there, those that may be, and no others."""
    fields: dict[str, Any] = {}
    for key, kind in always.items():
        fields[f"f{len(fields)}"] = (kind, Field(alias=key))
    for key, kind in (maybe or {}).items():
        fields[f"f{len(fields)}"] = (kind, Field(default=None, alias=key))
    return create_model(name, __config__=_CONFIG, **fields)


def only(name: str, kind: object) -> Shape:
    """Return an object with one field."""
    return shape(f"object with {name}", {name: kind})


def message_and(name: str, kind: object) -> Shape:
    """Return an object with a sentence and one field."""
    return shape(f"message and {name}", {"message": str, name: kind})


def listed(kind: Shape, *, at_least: int = 0, at_most: int | None = None) -> object:
    """Return the kind of a field that holds a number of these."""
    bounds = Field(min_length=at_least, max_length=at_most)
    return Annotated[list[kind], bounds]  # type: ignore[valid-type] # made while it runs
