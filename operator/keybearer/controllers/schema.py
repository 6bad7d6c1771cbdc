"""Structural OpenAPI schemas, as CRDs demand them, from pydantic models.

Pydantic writes JSON Schema 2020-12; the API server reads a subset of OpenAPI 3.0 without references, unions
and nulls. What can't be said in that subset is an error here rather than a surprise there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from keybearer.base.errors import KeybearerError
from keybearer.controllers.custom_resource import RuledModel, SpecModel, StatusModel
from keybearer.controllers.resource_fields import write_duration

__all__ = ["UnsayableSchemaError", "structural_schema"]

_Schema: TypeAlias = dict[str, Any]

_SAYABLE = frozenset(
    {
        *("type", "format", "description", "enum", "pattern", "required", "multipleOf"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    }
)


_SHARED = ((SpecModel, "deletionDeadline"), (StatusModel, "lastHandledRequestedAt"))
"""Fields of all kinds that people read after those that are a kind's own."""


class UnsayableSchemaError(KeybearerError):
    """A model uses what a structural schema has no words for; the text names the field and the keyword."""


def structural_schema(model: type[BaseModel], *, with_defaults: bool = True) -> _Schema:
    """Return the structural schema of a model: references inlined, rules as CEL, absent instead of null.

    Args:
        model: one half of a custom resource.
        with_defaults: whether the API server is to persist defaults, those inside lists never.

    Raises:
        UnsayableSchemaError: the model refers to itself, or uses a union or another keyword that the subset
            lacks.
    """
    raw = model.model_json_schema(by_alias=True, schema_generator=_CrdJsonSchema)
    inliner = _Inliner(raw.pop("$defs", {}))
    return inliner.inline(raw, model.__name__, (), with_defaults=with_defaults)


class _CrdJsonSchema(GenerateJsonSchema):
    """Pydantic's generator, without nulls, with CEL rules, and with durations as people write them."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        described = super().model_schema(schema)
        model = schema["cls"]
        for base, shared in _SHARED:
            if issubclass(model, base):
                properties = described["properties"]
                properties[shared] = properties.pop(shared)
        if issubclass(model, RuledModel) and model.rules:
            described["x-kubernetes-validations"] = [
                {"rule": rule.cel, "message": rule.message} for rule, _ in model.rules
            ]
        return described

    def encode_default(self, dft: Any) -> Any:  # noqa: ANN401 - the signature of the base class
        return write_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


class _Inliner:
    """Replaces references by what they refer to, and translates or refuses keywords."""

    def __init__(self, definitions: Mapping[str, _Schema]) -> None:
        self._definitions = definitions

    def inline(self, schema: _Schema, where: str, within: tuple[str, ...], *, with_defaults: bool) -> _Schema:
        """Return the schema in the words of a CRD; `within` names the definitions it stands in."""
        schema, within = self._resolve(schema, where, within)

        def inner(part: _Schema, step: str, *, defaults: bool = with_defaults) -> _Schema:
            return self.inline(part, where + step, within, with_defaults=defaults)

        said: _Schema = {}
        for keyword, value in schema.items():
            match keyword:
                case "title" | "default":
                    pass
                case "properties":
                    said[keyword] = {name: inner(part, f".{name}") for name, part in value.items()}
                case "items":
                    said[keyword] = inner(value, "[]", defaults=False)
                case "additionalProperties" if isinstance(value, dict):
                    said[keyword] = inner(value, "[*]")
                case "const":
                    said["enum"] = [value]
                case _ if keyword in _SAYABLE or keyword.startswith("x-kubernetes-"):
                    said[keyword] = value
                case _:
                    raise UnsayableSchemaError(f"{where}: a CRD has no word for {keyword}")
        _say_default(said, schema.get("default"), with_defaults=with_defaults)
        return said

    def _resolve(
        self, schema: _Schema, where: str, within: tuple[str, ...]
    ) -> tuple[_Schema, tuple[str, ...]]:
        if "$ref" not in schema:
            return schema, within
        name = schema["$ref"].removeprefix("#/$defs/")
        if name in within:
            raise UnsayableSchemaError(f"{where}: {name} refers to itself, which a CRD can't say")
        beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        return {**self._definitions[name], **beside}, (*within, name)


def _say_default(said: _Schema, value: object, *, with_defaults: bool) -> None:
    if value in (None, [], {}):
        return
    if with_defaults:
        said["default"] = value
    elif "description" in said:
        # Inside a list the API server would write it into each item, and GitOps tools compare lists whole:
        # the object would differ from its manifest for ever (external-secrets/external-secrets#6398). The
        # model has the default all the same.
        said["description"] += f" Defaults to {json.dumps(value)}."
