"""Search filters (RFC 4515) as templates: parsed once, filled with a user's name afterwards.

The name is put into values of the parsed tree and never becomes text that is parsed, so it can't change what the
filter asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "PLACEHOLDER",
    "Combined",
    "Comparison",
    "Extensible",
    "Filter",
    "Negated",
    "Presence",
    "Substrings",
    "filled",
    "names_user",
    "parse_filter",
]

PLACEHOLDER = "{{username}}"

_MAX_LENGTH = 4096
_MAX_DEPTH = 16
_ATTRIBUTE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.;-]*")
_ITEM = re.compile(
    r"(?P<attribute>[A-Za-z0-9][A-Za-z0-9.;-]*)?(?P<dn>:dn)?(?::(?P<rule>[A-Za-z0-9][A-Za-z0-9.-]*))?"
    r"(?P<kind>:=|>=|<=|~=|=)(?P<value>.*)",
    re.DOTALL,
)
_ESCAPED = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|)")


@dataclass(frozen=True, slots=True)
class Combined:
    """All of the parts, or any."""

    kind: Literal["&", "|"]
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """Not the part."""

    part: Filter


@dataclass(frozen=True, slots=True)
class Comparison:
    """An attribute compared with a value."""

    kind: Literal["=", ">=", "<=", "~="]
    attribute: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Presence:
    """An attribute that an entry has at all."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Substrings:
    """An attribute that begins, goes on and ends with these; empty ends are open."""

    attribute: str
    initial: bytes
    middle: tuple[bytes, ...]
    final: bytes


@dataclass(frozen=True, slots=True)
class Extensible:
    """A value matched by a named rule (RFC 4511 section 4.5.1.7.7)."""

    attribute: str
    rule: str
    value: bytes
    dn_attributes: bool


Filter = Combined | Negated | Comparison | Presence | Substrings | Extensible


def parse_filter(text: str) -> Filter:
    """Return the filter that a text says; outer parentheses may be missing.

    Raises:
        ValueError: it says none, or one too long or too deep.
    """
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"is longer than {_MAX_LENGTH} characters")
    given = text.strip()
    reader = _Reader(given if given.startswith("(") else f"({given})")
    parsed = reader.one(0)
    if not reader.at_end:
        raise ValueError("goes on after its last parenthesis")
    return parsed


def filled(template: Filter, username: str) -> Filter:
    """Return the filter with the user's name wherever a value has the placeholder."""
    name, place = username.encode(), PLACEHOLDER.encode()
    return _mapped(template, lambda value: value.replace(place, name))


def names_user(template: Filter) -> bool:
    """Return whether a value has the placeholder."""
    found = False

    def look(value: bytes) -> bytes:
        nonlocal found
        found = found or PLACEHOLDER.encode() in value
        return value

    _mapped(template, look)
    return found


def _mapped(node: Filter, change: Callable[[bytes], bytes]) -> Filter:
    match node:
        case Combined(kind, parts):
            return Combined(kind, tuple(_mapped(part, change) for part in parts))
        case Negated(part):
            return Negated(_mapped(part, change))
        case Comparison(kind, attribute, value):
            return Comparison(kind, attribute, change(value))
        case Substrings(attribute, initial, middle, final):
            return Substrings(
                attribute, change(initial), tuple(change(value) for value in middle), change(final)
            )
        case Extensible(attribute, rule, value, dn_attributes):
            return Extensible(attribute, rule, change(value), dn_attributes)
        case Presence():
            return node


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at == len(self._text)

    def one(self, depth: int) -> Filter:
        """Return the filter in parentheses that begins here."""
        if depth > _MAX_DEPTH:
            raise ValueError(f"is nested more than {_MAX_DEPTH} deep")
        self._take("(")
        match self._next():
            case "&" | "|" as kind:
                self._at += 1
                parts = tuple(self._several(depth + 1))
                if not parts:
                    raise ValueError(f"has a {kind} without anything after it")
                node: Filter = Combined("&" if kind == "&" else "|", parts)
            case "!":
                self._at += 1
                node = Negated(self.one(depth + 1))
            case _:
                node = self._item()
        self._take(")")
        return node

    def _several(self, depth: int) -> Iterator[Filter]:
        while self._next() == "(":
            yield self.one(depth)

    def _item(self) -> Filter:
        end = self._text.find(")", self._at)
        inside = self._text[self._at : end] if end >= 0 else ""
        if "(" in inside or not inside:
            raise ValueError("has a parenthesis without its other half; write \\28 and \\29 in values")
        self._at = end
        return _item(inside)

    def _next(self) -> str:
        while self._text[self._at : self._at + 1] == " ":
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, wanted: str) -> None:
        if self._next() != wanted:
            raise ValueError(f"lacks a {wanted}; write for example (uid={PLACEHOLDER})")
        self._at += 1


def _item(text: str) -> Filter:
    found = _ITEM.fullmatch(text)
    if found is None:
        raise ValueError(f"has a part that compares nothing; write for example (uid={PLACEHOLDER})")
    attribute, rule = found["attribute"] or "", found["rule"] or ""
    kind, value = found["kind"], found["value"]
    if kind == ":=":
        if not attribute and not rule:
            raise ValueError("has a := without attribute and rule")
        return Extensible(attribute, rule, _value(value), found["dn"] is not None)
    if not _ATTRIBUTE.fullmatch(attribute) or rule or found["dn"]:
        raise ValueError("has a comparison without an attribute")
    if kind == "=":
        if value == "*":
            return Presence(attribute)
        if "*" in value:
            first, *middle, last = (_value(part) for part in value.split("*"))
            return Substrings(attribute, first, tuple(part for part in middle if part), last)
        return Comparison("=", attribute, _value(value))
    return Comparison(">=" if kind == ">=" else "<=" if kind == "<=" else "~=", attribute, _value(value))


def _value(text: str) -> bytes:
    """Return the bytes of a value: two hexadecimal digits after a backslash are one byte."""

    def unescape(found: re.Match[bytes]) -> bytes:
        if found[1] is None:
            raise ValueError("has a backslash without two hexadecimal digits after it")
        return bytes.fromhex(found[1].decode())

    if "*" in text or "\0" in text:
        raise ValueError("has a * or NUL in a value; write \\2a or \\00")
    return _ESCAPED.sub(unescape, text.encode())
