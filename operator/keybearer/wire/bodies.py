"""Bodies of requests, and what zero values mean in them.

A plain struct of Go has no absent fields: one that nobody set is sent as `""`, as `0`, or, where an empty text was
split into a list, as `[""]`. So the zero of an optional field's kind counts as absent. The field's declaration says
where it doesn't:

- `Zero.COUNTS`: the zero is judged like any other value. An empty text in a PATCH empties a comment or a description,
  a lifetime of 0 has no end, a path length of 0 allows no authority below; and where interface.md sets a lower bound,
  it holds for the zero too.
- `Zero.CLEARS`: the zero stands for null, which removes what was there.

Queries don't need this: an empty value counts as absent there, and Go's clients leave out numbers that nobody set.
What sets a limit to others is a `WireModel` and not read so: grants, certificate policies, approvals, and where a
connection may be used. There, what is absent allows more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    GetJsonSchemaHandler,
    JsonValue,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from keybearer.wire.base import WireModel

__all__ = ["BodyModel", "Zero"]


class Zero(Enum):
    """What the zero value of an optional field means, where it doesn't count as absent."""

    COUNTS = "judged like any other value"
    CLEARS = "the same as null"


class BodyModel(WireModel):
    """A body of a request, or a part of one: zero values of optional fields that it is read from count as absent."""

    def __init__(self, /, **said: object) -> None:
        # Our own client, which sends nothing that its caller didn't give: a zero is meant, and bounds hold for it.
        self.__pydantic_validator__.validate_python(said, self_instance=self, context=_SAID)

    # Else pydantic would call it for bodies that it parses, too.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @model_validator(mode="before")
    @classmethod
    def _read_zeros(cls, given: object, info: ValidationInfo) -> object:
        if info.context is _SAID or not isinstance(given, dict):
            return given
        if not any(_kind_of_zero(value) for value in given.values()):
            return given
        rules = _rules(cls)
        read: dict[object, object] = {}
        for key, value in given.items():
            rule, kind = rules.get(key), _kind_of_zero(value)
            if rule is None or kind not in rule.kinds:
                read[key] = value
            elif rule.clears:
                read[key] = None
        return read

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Return the model's description, in which optional fields take their zeros."""
        described = handler(core_schema)
        if handler.mode == "validation":
            properties = handler.resolve_ref_schema(described).get("properties", {})
            for key, rule in _rules(cls).items():
                if key in properties:
                    properties[key] = _with_zeros(properties[key], rule)
        return described


@dataclass(frozen=True, slots=True)
class _Rule:
    """Which kinds of zeros a field reads as absent, or as null."""

    kinds: frozenset[type]
    clears: bool


_SAID = object()
_ZEROS: Mapping[type, JsonValue] = {str: "", int: 0, list: [""]}
_TYPES: Mapping[type, str] = {str: "string", int: "integer", list: "array"}
_DATES_AND_IDS: tuple[object, ...] = (AwareDatetime, UUID, datetime)
_ANNOTATIONS = frozenset({"default", "description", "examples", "title"})


def _kind_of_zero(value: object) -> type | None:
    """Return the type whose zero it is; None for any other value. False is no zero: callers mean it."""
    kind = type(value)
    return kind if kind in _ZEROS and value == _ZEROS[kind] else None


@cache
def _rules(model: type[BaseModel]) -> Mapping[str, _Rule]:
    """Return the rule of each optional field that has one, under every name that it is given by."""
    rules = {}
    for name, field in model.model_fields.items():
        zero = _declared(field)
        kinds = frozenset(_kinds(field.annotation))
        if field.annotation is NoneType:
            kinds = frozenset({str})  # it may only be absent
        if kinds and not field.is_required() and zero is not Zero.COUNTS:
            rules.update(dict.fromkeys(_names(name, field), _Rule(kinds, zero is Zero.CLEARS)))
    return rules


def _names(name: str, field: FieldInfo) -> Iterator[str]:
    yield name
    for alias in (field.alias, field.validation_alias):
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        yield from (choice for choice in choices if isinstance(choice, str))


def _declared(field: FieldInfo) -> Zero | None:
    found = [mark for mark in (*field.metadata, *_marks(field.annotation)) if isinstance(mark, Zero)]
    return found[0] if found else None


def _marks(annotation: object) -> Iterator[object]:
    """Yield what annotates a type, also within a choice; what annotates the items of a list is not the list's."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        yield from marks
        yield from _marks(inner)
    elif get_origin(annotation) in (Union, UnionType):
        for one in get_args(annotation):
            yield from _marks(one)


def _kinds(annotation: object) -> Iterator[type]:
    """Yield the kinds of JSON values that a type is read from, of those that have a zero."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _kinds(parts[0])
    elif origin in (Union, UnionType):
        for part in parts:
            yield from _kinds(part)
    elif origin is Literal:
        yield from (type(word) for word in parts if type(word) in (str, int))
    elif origin in (list, tuple, Sequence):
        yield from (list for kind in _kinds(parts[0]) if kind is str)
    elif annotation in _DATES_AND_IDS:
        yield str
    elif isinstance(annotation, type):
        if issubclass(annotation, str):
            yield str
        elif issubclass(annotation, int | float) and annotation is not bool:
            yield int


def _with_zeros(described: JsonSchemaValue, rule: _Rule) -> JsonSchemaValue:
    """Return a field's description with the zeros that it doesn't take as they are."""
    missing: list[JsonSchemaValue] = [
        {"const": zero, "type": _TYPES[kind]}
        for kind, zero in _ZEROS.items()
        if kind in rule.kinds and not _takes(described, kind)
    ]
    if not missing:
        return described
    about = {keyword: value for keyword, value in described.items() if keyword in _ANNOTATIONS}
    choice = {keyword: value for keyword, value in described.items() if keyword not in _ANNOTATIONS}
    choices = choice["anyOf"] if choice.keys() == {"anyOf"} else [choice]
    return {"anyOf": [*choices, *missing], **about}


def _takes(described: JsonSchemaValue, kind: type) -> bool:
    """Return whether a description takes a kind's zero; of a reference it isn't looked up, and the answer is no."""
    if "anyOf" in described:
        return any(_takes(choice, kind) for choice in described["anyOf"])
    if described.keys() & {"const", "enum", "format", "pattern"}:
        return False
    match described.get("type"):
        case "string":
            return kind is str and not described.get("minLength")
        case "integer" | "number":
            return kind is int and described.get("minimum", 0) <= 0
        case "array":
            items = described.get("items", {})
            return kind is list and described.get("minItems", 0) <= 1 and _takes(items, str)
        case _:
            return False
