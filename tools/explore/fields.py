"""Changes of single fields of the custom resources, made up from their schemas: set, to the bounds, unset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from keybearer.controllers.crds import CUSTOM_RESOURCES, build_crd

__all__ = ["FieldChange", "changes_of"]

Schema: TypeAlias = Mapping[str, Any]
"""A part of an OpenAPI schema, as the CRD has it."""

_WORDS = (
    "b",
    "other",
    "b1",
    "B",
    "1h",
    "10s",
    "20d",
    "300h",
    "/other",
    "2030-01-01T00:00:00Z",
    "00000000-0000-4000-8000-000000000000",
)
"""What texts are made of: the first that the pattern lets pass."""
_DURATIONS = ("0", "1s", "9999999h", 0)
"""Of fields that take a number or a text, all of which are durations."""
_ITEMS_MAX = 70
"""Longer lists than that say nothing more, and make a test slow."""
_ENUM_MAX = 4


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One change of one field.

    Attributes:
        kind: of the custom resource.
        path: names from `spec` on; `[]` stands for the first item of a list.
        how: what is done, for people.
        value: what the field gets; None removes it.
    """

    kind: str
    path: tuple[str, ...]
    how: str
    value: Any

    def __str__(self) -> str:
        return f"field {self.kind} {'.'.join(self.path).replace('.[]', '[]')} {self.how}"

    def applied_to(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return a spec with this change; what leads to the field is made where it is missing."""
        schema = _SCHEMAS[self.kind]
        changed = _with(spec, self.path, self.value, schema)
        return dict(changed)


def changes_of(kind: str) -> Iterator[FieldChange]:
    """Yield all changes of all fields of a kind."""
    for path, schema in _fields(_SCHEMAS[kind], ()):
        yield FieldChange(kind, path, "unset", None)
        told: list[Any] = []
        for how, value in _values(schema):
            if value not in told:
                told.append(value)
                yield FieldChange(kind, path, how, value)


def _fields(schema: Schema, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Schema]]:
    for name, inner in schema.get("properties", {}).items():
        here = (*path, name)
        yield here, inner
        yield from _fields(inner, here)
        if "items" in inner:
            yield from _fields(inner["items"], (*here, "[]"))


def _values(schema: Schema) -> Iterator[tuple[str, Any]]:
    """Yield valid values, as far as this part of the schema says, and how each is called."""
    chosen = schema.get("enum", ())[:_ENUM_MAX]
    if schema.get("x-kubernetes-int-or-string"):
        chosen = _DURATIONS
    elif schema.get("type") == "boolean":
        chosen = (True, False)
    if chosen:
        yield from ((f"set to {value!r}", value) for value in chosen)
        return
    match schema.get("type"):
        case "integer":
            for how, bound in (
                ("least", schema.get("minimum", 0)),
                ("most", schema.get("maximum", 2**31 - 1)),
            ):
                yield f"set to the {how}", bound
        case "string":
            yield from _texts(schema)
        case "array":
            many = min(schema.get("maxItems", _ITEMS_MAX), _ITEMS_MAX)
            for count in (0, 1, many):
                items = [_numbered(_least(schema["items"]), one) for one in range(count)]
                yield f"set to {count} items", items
        case "object":
            yield from _objects(schema)
        case _:
            pass


def _objects(schema: Schema) -> Iterator[tuple[str, dict[str, Any]]]:
    if "properties" in schema:
        yield "emptied", {}
        yield "set to the least", _least(schema)
        return
    inner = schema.get("additionalProperties")
    inner = inner if isinstance(inner, Mapping) else {"type": "string"}
    many = min(schema.get("maxProperties", _ITEMS_MAX), _ITEMS_MAX)
    for count in (0, 1, many):
        yield f"set to {count} entries", {f"b{one}": _least(inner) for one in range(count)}


def _texts(schema: Schema) -> Iterator[tuple[str, str]]:
    pattern = re.compile(schema.get("pattern", ""))
    least, most = schema.get("minLength", 0), schema.get("maxLength", 300)
    fitting = [one for one in _WORDS if least <= len(one) <= most and pattern.search(one)]
    yield from ((f"changed to {one}", one) for one in fitting[:2])
    for how, length in (("shortest", least), ("longest", min(most, 2048))):
        text = "b" * length
        if pattern.search(text):
            yield how, text


def _least(schema: Schema) -> Any:  # noqa: ANN401 - JSON
    """Return a value with no more than what must be there."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("x-kubernetes-int-or-string"):
        return _DURATIONS[1]
    match schema.get("type"):
        case "boolean":
            return True
        case "integer":
            return schema.get("minimum", 0)
        case "array":
            return [_least(schema["items"])]
        case "object":
            return {name: _least(schema["properties"][name]) for name in schema.get("required", ())}
        case _:
            return next((text for _, text in _texts(schema)), "b")


def _numbered(value: Any, number: int) -> Any:  # noqa: ANN401 - JSON
    """Return the value with a number in its texts, for lists whose items must differ."""
    match value:
        case str() if value in ("b", "other", "b1", "B"):
            return f"{value}{number}"
        case dict():
            return {name: _numbered(inner, number) for name, inner in value.items()}
        case _:
            return value


def _with(there: Any, path: tuple[str, ...], value: Any, schema: Schema) -> Any:  # noqa: ANN401 - JSON
    if not path:
        return value
    name, *rest = path
    if name == "[]":
        first, *others = there or [_least(schema["items"])]
        return [_with(first, tuple(rest), value, schema["items"]), *others]
    inner = schema["properties"][name]
    whole = dict(there or {})
    if not rest and value is None:
        whole.pop(name, None)
        return whole
    if rest and name not in whole:
        whole[name] = _least(inner) if "items" not in inner else [_least(inner["items"])]
    whole[name] = _with(whole.get(name), tuple(rest), value, inner)
    return whole


def _schema_of(kind: str) -> Schema:
    resource = next(one for one in CUSTOM_RESOURCES if one.kind == kind)
    version = build_crd(resource)["spec"]["versions"][0]
    schema: Schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return schema


_SCHEMAS: Mapping[str, Schema] = {one.kind: _schema_of(one.kind) for one in CUSTOM_RESOURCES}
