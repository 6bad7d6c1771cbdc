"""Requests that are right but for one value, which no database can hold: read off the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

__all__ = ["HostileRequest", "hostile_requests"]

TEXTS = ("a\0b", "\ud800")
"""A NUL, which PostgreSQL refuses in texts, and half of a character, which no UTF-8 holds."""
NUMBERS = (2**31, 2**63, -(2**63) - 1, 10**400)
"""Beyond 32 bits, beyond 64, and beyond all."""

Known = Mapping[str, tuple[object, ...]]


@dataclass(frozen=True)
class HostileRequest:
    """One of them; `template` is the path as the document spells it, `place` where the value stands."""

    method: str
    template: str
    target: str
    place: str
    body: object = None


def hostile_requests(document: Mapping[str, Any], known: Known) -> Iterator[HostileRequest]:
    """Yield for each operation one request for each of its parameters and fields and each value."""
    for template, methods in document["paths"].items():
        for method, operation in methods.items():
            yield from _Operation(document, known, method, template, operation).requests()


class _Operation:
    def __init__(
        self,
        document: Mapping[str, Any],
        known: Known,
        method: str,
        template: str,
        operation: Mapping[str, Any],
    ) -> None:
        self._schemas = document["components"]["schemas"]
        self._known = known
        self._method = method
        self._template = template
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        self._schema = content.get("schema")
        given = operation.get("parameters", [])
        self._path = [item for item in given if item["in"] == "path"]
        self._query = [item for item in given if item["in"] == "query"]

    def requests(self) -> Iterator[HostileRequest]:
        places = {item["name"]: str(self._sample(item["schema"], item["name"])) for item in self._path}
        query = {
            item["name"]: str(self._sample(item["schema"], item["name"]))
            for item in self._query
            if item["required"]
        }
        body = None if self._schema is None else self._sample(self._schema)
        for name in places:
            for text in TEXTS:
                yield self._request({**places, name: text}, query, body, name)
        for item in self._query:
            for value in self._hostile(item["schema"]):
                yield self._request(places, {**query, item["name"]: str(value)}, body, item["name"])
        if self._schema is not None:
            for place, changed in self._changed(self._schema, body):
                yield self._request(places, query, changed, place)

    def _request(
        self, places: Mapping[str, str], query: Mapping[str, str], body: object, place: str
    ) -> HostileRequest:
        target = self._template
        for name, text in places.items():
            target = target.replace(f"{{{name}}}", _encoded(text))
        asked = "&".join(f"{name}={_encoded(text)}" for name, text in query.items())
        return HostileRequest(self._method.upper(), self._template, f"{target}?{asked}", place, body)

    def _changed(self, schema: Mapping[str, Any], right: object) -> Iterator[tuple[str, object]]:
        """Yield the value with one field exchanged, at every depth, and the field's name."""
        resolved = self._resolved(schema)
        for name, shape in resolved.get("properties", {}).items():
            fields = right if isinstance(right, dict) else {}
            inner = self._sample(shape, name) if name not in fields else fields[name]
            for where, changed in self._changed(shape, inner):
                yield f"{name}.{where}", {**fields, name: changed}
        if resolved.get("type") == "array":
            for where, changed in self._changed(resolved["items"], self._sample(resolved["items"])):
                yield where, [changed]
        if "properties" not in resolved and resolved.get("type") != "array":
            for value in self._hostile(resolved):
                yield "", value

    def _hostile(self, schema: Mapping[str, Any]) -> tuple[object, ...]:
        return NUMBERS if self._resolved(schema).get("type") in ("integer", "number") else TEXTS

    def _sample(self, schema: Mapping[str, Any], name: str = "") -> Any:  # noqa: ANN401 - whatever it describes
        resolved = self._resolved(schema)
        if name in self._known:
            return self._known[name][0]
        if "enum" in resolved:
            return resolved["enum"][0]
        match resolved.get("type"):
            case "object":
                required = resolved.get("required", [])
                return {name: self._sample(resolved["properties"][name], name) for name in required}
            case "array":
                return [self._sample(resolved["items"])] * max(1, resolved.get("minItems", 0))
            case "integer":
                return resolved.get("minimum", 1)
            case "boolean":
                return False
            case _:
                return "x" * max(1, resolved.get("minLength", 0))

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" in schema:
            return self._resolved(self._schemas[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self._resolved(schema["anyOf"][0])
        return schema


def _encoded(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")
