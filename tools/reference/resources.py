"""A page for each custom resource: every field, from the schema that the API server is given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.controllers.crds import build_crd
from keybearer.controllers.custom_resource import CustomResource
from tools.reference.markdown import NOTE, anchor, cell, code, table

__all__ = ["resource_page"]

_Schema = Mapping[str, JsonValue]
_BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
    ("minProperties", "maxProperties", " entries"),
)
_ODD_BOUNDS = {
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
}
_PATTERN_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Section:
    path: str
    schema: _Schema


def resource_page(resource: CustomResource) -> str:
    """Return the page of a kind."""
    described = build_crd(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    half = described["properties"]
    names = ", ".join(code(name) for name in (resource.plural, *resource.short_names))
    parts = [
        f"# {resource.kind}\n",
        NOTE + "\n",
        f"{resource.description}\n",
        (
            f"`apiVersion: {resource.group}/{resource.version}`, `kind: {resource.kind}`; `kubectl get` knows it as {names}, and "
            f"`kubectl explain {resource.singular}.spec` says what this page says. The page on "
            "[reasons](reasons.md) says what its conditions mean.\n"
        ),
        _columns(resource),
    ]
    for name in ("spec", "status"):
        parts.extend(_render(section) for section in _sections(name, half[name]))
    return "\n".join(parts)


def _columns(resource: CustomResource) -> str:
    rows = [
        (
            column.name,
            code(column.json_path),
            cell(column.description),
            "yes" if column.priority else "",
        )
        for column in resource.columns
    ]
    return "## Columns\n\n" + table(("column", "shows", "that is", "only with `-o wide`"), rows)


def _sections(path: str, schema: _Schema) -> Iterator[_Section]:
    """Return each object of the schema, from the outside in."""
    yield _Section(path, schema)
    for name, field in _properties(schema).items():
        steps, inner = _innermost(field)
        if _properties(inner):
            yield from _sections(f"{path}.{name}{steps}", inner)


def _innermost(field: _Schema) -> tuple[str, _Schema]:
    """Return what a list or map holds in the end, and how it is reached from the field."""
    steps = ""
    while True:
        items, entries = field.get("items"), field.get("additionalProperties")
        if isinstance(items, dict):
            field, steps = items, steps + "[]"
        elif isinstance(entries, dict):
            field, steps = entries, steps + ".*"
        else:
            return steps, field


def _render(section: _Section) -> str:
    required = section.schema.get("required")
    needed = required if isinstance(required, list) else []
    rows = [
        (
            f"`{name}`" + (" **(required)**" if name in needed else ""),
            _type(section.path, name, field),
            _default(field),
            _bounds(field),
            cell(str(field.get("description", ""))),
        )
        for name, field in _properties(section.schema).items()
    ]
    level = "##" if "." not in section.path else "###"
    parts = [f"{level} {section.path}\n"]
    if isinstance(text := section.schema.get("description"), str):
        parts.append(f"{cell(text)}\n")
    parts.append(table(("field", "type", "default", "bounds", "what it is"), rows))
    rules = list(_rules(section))
    if rules:
        parts.append("Rules that the API server enforces:\n")
        parts.append(table(("of", "rule (CEL)", "says"), rules))
    return "\n".join(parts)


def _rules(section: _Section) -> Iterator[tuple[str, str, str]]:
    """Return the rules of the object itself, and of its fields that are no objects with a section of their own."""
    for told in _validations(section.schema):
        yield (code(section.path), *told)
    for name, field in _properties(section.schema).items():
        where, part = f"{section.path}.{name}", field
        while True:
            steps, inner = _innermost(part)
            if part is not inner or not _properties(inner):
                for told in _validations(part):
                    yield (code(where), *told)
            if part is inner or _properties(inner):
                break
            where, part = where + steps, inner


def _validations(schema: _Schema) -> Iterator[tuple[str, str]]:
    rules = schema.get("x-kubernetes-validations")
    for rule in rules if isinstance(rules, list) else []:
        if isinstance(rule, dict):
            yield code(rule["rule"]).replace("|", "\\|"), cell(str(rule["message"]))


def _type(path: str, name: str, field: _Schema) -> str:
    steps, inner = _innermost(field)
    if _properties(inner):
        heading = f"{path}.{name}{steps}"
        word = f"[object]({anchor(heading)})"
    elif "enum" in inner:
        values = inner["enum"]
        word = ", ".join(code(value) for value in values) if isinstance(values, list) else ""
    elif inner.get("x-kubernetes-int-or-string") is True:
        word = "duration" if "s" in str(inner.get("pattern")) else "number or text"
    elif inner.get("x-kubernetes-preserve-unknown-fields") is True:
        word = "anything"
    else:
        word = _word(inner)
    for step in reversed(steps.replace(".*", "*").replace("[]", "[")):
        word = f"list of {word}" if step == "[" else f"map of {word}"
    return word


def _word(inner: _Schema) -> str:
    if inner.get("format") == "date-time":
        return "time"
    return {"string": "text", "integer": "number", "boolean": "true or false", "object": "map"}.get(
        str(inner.get("type")), str(inner.get("type"))
    )


def _default(field: _Schema) -> str:
    return code(json.dumps(field["default"])).replace("|", "\\|") if "default" in field else ""


def _bounds(field: _Schema) -> str:
    steps, inner = _innermost(field)
    said = [", ".join(_bounds_of(field))]
    if steps and (each := ", ".join(_bounds_of(inner))):
        said.append(f"each: {each}")
    return "; ".join(part for part in said if part).replace("|", "\\|")


def _bounds_of(part: _Schema) -> Iterator[str]:
    if "x-kubernetes-int-or-string" in part:
        return  # its length and form are those of any duration; the rules say what else holds
    for least, most, unit in _BOUNDS:
        match part.get(least), part.get(most):
            case None, None:
                pass
            case low, None:
                yield f"{low}{unit} or more"
            case None, high:
                yield f"{high}{unit} at most"
            case low, high:
                yield f"{low} to {high}{unit}"
    yield from (text.format(part[key]) for key, text in _ODD_BOUNDS.items() if key in part)
    if isinstance(pattern := part.get("pattern"), str):
        yield code(pattern) if len(pattern) <= _PATTERN_SHOWN else "a pattern (see the CRD)"


def _properties(schema: _Schema) -> Mapping[str, _Schema]:
    found = schema.get("properties")
    if not isinstance(found, dict):
        return {}
    return {name: field for name, field in found.items() if isinstance(field, dict)}
