"""Google's discovery documents, to hold a copy of its APIs against what was asked of it and answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from support.remotes.serving import Asked
from tools.local.installing import python_environment

__all__ = ["DiscoveryDocument"]

_LOCK = Path(__file__).parents[3] / "requirements" / "discovery.txt"
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "number": (int, float),
    "array": list,
    "object": dict,
}


@dataclass(frozen=True)
class _Method:
    http_method: str
    path: re.Pattern[str]
    described: Mapping[str, Any] = field(repr=False)


class DiscoveryDocument:
    """An API's description, as `name.version`."""

    def __init__(self, api: str) -> None:
        home = python_environment("discovery", _LOCK).parents[1]
        (file,) = home.glob(f"lib/*/site-packages/googleapiclient/discovery_cache/documents/{api}.json")
        self._document = json.loads(file.read_bytes())
        self._methods = list(_methods(self._document))

    def hold(self, asked: Asked) -> str:
        """Return the id of the method that was asked for, after request and answer were found to be as described."""
        path, _, query = asked.path.partition("?")
        found = [
            one
            for one in self._methods
            if one.http_method == asked.method and one.path.fullmatch(path.removeprefix("/"))
        ]
        assert len(found) == 1, f"{asked.method} {path} is described {len(found)} times"
        described = found[0].described
        known = {
            name: one for name, one in described["parameters"].items() if one.get("location") == "query"
        } | self._document["parameters"]
        for name, text in parse_qsl(query, keep_blank_values=True):
            assert name in known, f"{name} is no parameter of {described['id']}"
            assert known[name]["type"] != "integer" or text.isdecimal(), f"{name} is no number"
        if asked.sent:
            self._hold(json.loads(asked.sent), described["request"], described["id"])
        elif asked.method == "POST":
            raise AssertionError(f"{described['id']} has a body")
        if 200 <= asked.status < 300:
            self._hold(json.loads(asked.answered), described["response"], described["id"])
        return str(described["id"])

    def _hold(self, given: object, schema: Mapping[str, Any], where: str) -> None:
        schema = self._document["schemas"][schema["$ref"]] if "$ref" in schema else schema
        assert isinstance(given, _TYPES[schema["type"]]), f"{where} is no {schema['type']}"
        if isinstance(given, dict):
            properties = schema.get("properties", {})
            for name, value in given.items():
                inner = properties.get(name) or schema.get("additionalProperties")
                assert inner is not None, f"{where} has no {name}"
                self._hold(value, inner, f"{where}.{name}")
        elif isinstance(given, list):
            for value in given:
                self._hold(value, schema["items"], f"{where}[]")
        if "enum" in schema:
            assert given in schema["enum"], f"{where} is none of its words"


def _methods(resource: Mapping[str, Any]) -> Iterator[_Method]:
    for one in resource.get("methods", {}).values():
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/:]+", re.escape(one["flatPath"]))
        yield _Method(one["httpMethod"], re.compile(pattern), one)
    for inner in resource.get("resources", {}).values():
        yield from _methods(inner)
