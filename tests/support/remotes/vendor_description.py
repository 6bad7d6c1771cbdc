"""A vendor's own OpenAPI description, to hold a copy of its API against what was asked of it and answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import jsonschema_rs
import orjson

from support.remotes.serving import Asked

__all__ = ["Operation", "VendorDescription"]

_METHODS = ("get", "put", "post", "patch", "delete")


@dataclass(frozen=True)
class Operation:
    """One way to ask; `path` with its parameters in braces."""

    method: str
    path: str
    described: Mapping[str, Any] = field(repr=False)


class VendorDescription:
    """OpenAPI 3.0, as JSON."""

    def __init__(self, file: Path) -> None:
        self._document = orjson.loads(file.read_bytes())
        self._operations = [
            (re.compile(_pattern(path)), Operation(method.upper(), path, item[method]))
            for path, item in self._document["paths"].items()
            for method in _METHODS
            if method in item
        ]

    def operation(self, method: str, path: str) -> Operation:
        """Return the operation of a path without its query; one without parameters goes before one with some."""
        found = [one for match, one in self._operations if one.method == method and match.fullmatch(path)]
        assert found, f"{method} {path} is not described"
        return min(found, key=lambda one: one.path.count("{"))

    def hold(self, asked: Asked, root: str = "", *, partial: bool = False) -> Operation:
        """Return the operation that was asked for, after what was sent and answered was found to be as described.

        Args:
            asked: of a copy.
            root: what the copy's paths have before those of the description.
            partial: whether the copy leaves parts of the answer out.
        """
        path, _, query = asked.path.removeprefix(root).partition("?")
        operation = self.operation(asked.method, path)
        parameters = [self._resolved(one) for one in operation.described.get("parameters", ())]
        known = {one["name"]: one for one in parameters if one["in"] == "query"}
        for name, text in parse_qsl(query, keep_blank_values=True):
            assert name in known, f"{name} is no parameter of {operation}"
            self._validate(known[name]["schema"], _read_as(self._resolved(known[name]["schema"]), text))
        self._hold_sent(asked, operation)
        if 200 <= asked.status < 300:
            self._hold_answered(asked, operation, partial=partial)
        return operation

    def _hold_sent(self, asked: Asked, operation: Operation) -> None:
        body = operation.described.get("requestBody")
        if body is None or (not asked.sent and not body.get("required")):
            assert not asked.sent
            return
        assert asked.sent, f"{operation} has a body"
        kind = next((text for name, text in asked.headers.items() if name.lower() == "content-type"), "")
        content = self._resolved(body)["content"]
        assert kind.partition(";")[0] in content, f"{kind} is no type of content of {operation}"
        self._validate(self._closed(content["application/json"]["schema"]), orjson.loads(asked.sent))

    def _closed(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema without a place for members that it doesn't name, at any depth."""
        closed = {**self._resolved(schema)}
        if "properties" in closed:
            closed["properties"] = {name: self._closed(one) for name, one in closed["properties"].items()}
            closed.setdefault("additionalProperties", False)
        if "items" in closed:
            closed["items"] = self._closed(closed["items"])
        return closed

    def _hold_answered(self, asked: Asked, operation: Operation, *, partial: bool) -> None:
        answers = operation.described["responses"]
        assert str(asked.status) in answers, f"{asked.status} is no described success of {operation}"
        content = self._resolved(answers[str(asked.status)]).get("content")
        if content is None:
            assert asked.answered == b""
            return
        schema = content["application/json"]["schema"]
        self._validate(schema, orjson.loads(asked.answered), partial=partial)

    def _resolved(self, described: Mapping[str, Any]) -> Mapping[str, Any]:
        reference = described.get("$ref")
        if reference is None:
            return described
        found = self._document
        for part in reference.removeprefix("#/").split("/"):
            found = found[unquote(part)]
        return self._resolved(found)

    def _validate(self, schema: Mapping[str, Any], content: object, *, partial: bool = False) -> None:
        wanted = {"components": {"schemas": {}}, **_as_json_schema(schema, partial=partial)}
        schemas, left = wanted["components"]["schemas"], set(_references(schema))
        while left:
            name = left.pop()
            if name not in schemas:
                named = self._document["components"]["schemas"][name]
                schemas[name] = _as_json_schema(named, partial=partial)
                left |= set(_references(named))
        errors = [str(error.message) for error in jsonschema_rs.Draft4Validator(wanted).iter_errors(content)]
        assert not errors, json.dumps(errors)


def _read_as(schema: Mapping[str, Any], text: str) -> str | int:
    """Return what a text of a query stands for; one that is no number stays a text, and is refused as such."""
    is_number = schema.get("type") == "integer" and re.fullmatch(r"-?\d+", text) is not None
    return int(text) if is_number else text


def _pattern(path: str) -> str:
    return "".join(
        "[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{[^}]*\})", path)
    )


def _references(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        reference = node.get("$ref")
        if isinstance(reference, str):
            yield reference.rpartition("/")[2]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _as_json_schema(node: Any, *, partial: bool) -> Any:  # noqa: ANN401 - any part of a description
    """Return a schema in the words of JSON Schema; where it is partial, nothing is required."""
    if isinstance(node, list):
        return [_as_json_schema(one, partial=partial) for one in node]
    if not isinstance(node, dict):
        return node
    left = {name: value for name, value in node.items() if name not in ("nullable", "example", "examples")}
    if partial:
        left.pop("required", None)
        if "oneOf" in left:
            left["anyOf"] = left.pop("oneOf")  # without what is required many of them fit
    made = {name: _as_json_schema(value, partial=partial) for name, value in left.items()}
    return {"anyOf": [made, {"type": "null"}]} if node.get("nullable") is True else made
