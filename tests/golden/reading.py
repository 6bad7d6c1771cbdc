"""The golden files of this directory as values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

__all__ = ["Exchange", "GoldenClient", "GoldenRequest", "answers", "clients", "fill_in", "unmet"]

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class GoldenRequest:
    """A request as a published client sends it, with placeholders."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: JsonValue = None
    bearer: bool = True


@dataclass(frozen=True)
class Exchange:
    """A request, and what its client needs of the answer."""

    name: str
    request: GoldenRequest
    status: int
    needs: JsonValue = None
    finds: dict[str, JsonValue] = field(default_factory=dict)
    headers: tuple[str, ...] = ()
    keeps: dict[str, str] = field(default_factory=dict)
    ours: str = ""


@dataclass(frozen=True)
class GoldenClient:
    """One published client."""

    client: str
    origin: str
    exchanges: tuple[Exchange, ...]
    organizationRole: str = "no-access"  # noqa: N815 - as the files have it


@dataclass(frozen=True)
class Answer:
    """An answer of a published server, and what our client makes of it."""

    name: str
    operation: str
    body: JsonValue
    reads: JsonValue


@dataclass(frozen=True)
class _Answers:
    origin: str
    answers: tuple[Answer, ...]


def clients() -> list[GoldenClient]:
    """Return the published clients, by file name."""
    adapter = TypeAdapter(GoldenClient)
    return [adapter.validate_json(path.read_bytes()) for path in sorted((_HERE / "clients").glob("*.json"))]


def answers() -> list[Answer]:
    """Return the answers of published servers."""
    adapter = TypeAdapter(_Answers)
    files = sorted((_HERE / "answers").glob("*.json"))
    return [answer for path in files for answer in adapter.validate_json(path.read_bytes()).answers]


def fill_in(template: JsonValue, values: Mapping[str, str]) -> JsonValue:
    """Return the template with each `{name}` in its texts replaced."""
    if isinstance(template, str):
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", value)
        return template
    if isinstance(template, list):
        return [fill_in(item, values) for item in template]
    if isinstance(template, dict):
        return {key: fill_in(item, values) for key, item in template.items()}
    return template


def unmet(
    exchange: Exchange, status: int, headers: Mapping[str, str], body: JsonValue, values: Mapping[str, str]
) -> list[str]:
    """Return what the client would miss in the answer, one line each; values stand for placeholders."""
    if status != exchange.status:
        return [f"status is {status}, not {exchange.status}: {json.dumps(body)[:300]}"]
    missing = [f"header {name} is missing" for name in exchange.headers if name not in headers]
    missing += list(_lacks("body", exchange.needs, body))
    for path, expected in exchange.finds.items():
        found, value = at(body, path), fill_in(expected, values)
        if found != value:
            missing.append(f"{path} is {found!r}, not {value!r}")
    return missing


def at(body: JsonValue, path: str) -> JsonValue:
    """Return what is at a dotted path, or None."""
    found = body
    for step in path.split("."):
        if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        elif isinstance(found, dict):
            found = found.get(step)
        else:
            return None
    return found


def _lacks(path: str, needed: JsonValue, found: JsonValue) -> Iterator[str]:
    if isinstance(needed, dict):
        if not isinstance(found, dict):
            yield f"{path} is no object"
            return
        for key, inner in needed.items():
            yield from _lacks(f"{path}.{key}", inner, found.get(key))
    elif isinstance(needed, list):
        if not isinstance(found, list) or not found:
            yield f"{path} is no list, or empty"
            return
        for index, item in enumerate(found):
            yield from _lacks(f"{path}.{index}", needed[0], item)
    elif isinstance(needed, str) and not _is(needed, found):
        yield f"{path} is {type(found).__name__}, not {needed}"


def _is(word: str, found: JsonValue) -> bool:
    if word.endswith("?"):
        return found is None or _is(word[:-1], found)
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return {
        "string": isinstance(found, str),
        "filled": isinstance(found, str) and found != "",
        "instant": isinstance(found, str) and found.endswith("Z") and "T" in found,
        "boolean": isinstance(found, bool),
        "number": is_number,
        "integer": isinstance(found, int) and not isinstance(found, bool),
        "positive": is_number and isinstance(found, (int, float)) and found > 0,
        "list": isinstance(found, list),
    }[word]
