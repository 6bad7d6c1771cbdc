"""The fields of credentials and configurations, for what people read of them: from the models that validate them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.destinations.form import DestinationKind
from keybearer.wire.credentials import Method

__all__ = ["Field", "Form", "config_forms", "credential_fields"]

_Schema = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Field:
    """A field, by its name on the wire.

    Attributes:
        words: that it takes, where it takes no others.
    """

    name: str
    is_required: bool
    is_secret: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """One shape of a configuration; where there are several, `selector` is the field that tells it, and its word."""

    selector: tuple[str, str] | None
    fields: tuple[Field, ...]


def credential_fields(method: Method) -> tuple[Field, ...]:
    """Return what is given for a method, in the order of its model."""
    fields = method.given.model_fields
    secret = frozenset(field.alias or name for name, field in fields.items() if not field.repr)
    schema = method.given.model_json_schema(by_alias=True)
    return _fields(schema, _mapping(schema.get("$defs")), secret)


def config_forms(kind: DestinationKind) -> tuple[Form, ...]:
    """Return the shapes of a destination's configuration."""
    schema = kind.config.json_schema(by_alias=True)
    shared = _mapping(schema.get("$defs"))
    discriminator = _mapping(schema.get("discriminator"))
    selector, shapes = discriminator.get("propertyName"), _mapping(discriminator.get("mapping"))
    if not isinstance(selector, str):
        return (Form(None, _fields(schema, shared)),)
    return tuple(
        Form(
            (selector, word),
            tuple(
                field
                for field in _fields(_resolved({"$ref": reference}, shared), shared)
                if field.name != selector
            ),
        )
        for word, reference in shapes.items()
    )


def _fields(schema: _Schema, shared: _Schema, secret: frozenset[str] = frozenset()) -> tuple[Field, ...]:
    """Return the fields of an object, required ones first; a field that may only be absent is left out."""
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    fields = [
        Field(name, name in needed, name in secret, _words(_mapping(field), shared))
        for name, field in _mapping(schema.get("properties")).items()
        if _choices(_mapping(field))
    ]
    return tuple(sorted(fields, key=lambda field: not field.is_required))


def _words(field: _Schema, shared: _Schema) -> tuple[str, ...]:
    """Return the words that a field takes, if it takes no others."""
    parts = [_resolved(part, shared) for part in _choices(field)]
    if len(parts) != 1:
        return ()
    words = parts[0].get("enum")
    return tuple(word for word in words if isinstance(word, str)) if isinstance(words, list) else ()


def _choices(field: _Schema) -> list[_Schema]:
    """Return what a field takes but null and the zeros that stand for nothing (`keybearer.wire.bodies`)."""
    choices = field.get("anyOf")
    parts = [_mapping(choice) for choice in choices] if isinstance(choices, list) else [field]
    return [part for part in parts if part.get("type") != "null" and part.get("const") not in ("", 0, [""])]


def _resolved(schema: _Schema, shared: _Schema) -> _Schema:
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    return _mapping(shared[reference.rpartition("/")[2]])


def _mapping(found: JsonValue) -> _Schema:
    return found if isinstance(found, dict) else {}
