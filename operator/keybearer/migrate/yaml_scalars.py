"""Scalars of YAML as Kubernetes reads them: YAML 1.1, but dates stay text, and so do numbers that JSON can't hold."""

from __future__ import annotations

import math
import re
from typing import Final

import yaml
from pydantic import JsonValue

from keybearer.base.errors import KeybearerError

__all__ = ["MERGE_KEY", "ReadingError", "ScalarReader"]

_TAG = "tag:yaml.org,2002:"
_KINDS = frozenset({"null", "bool", "int", "float", "merge", "timestamp", "value"})
_TRUE = frozenset({"yes", "true", "on"})
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0b(?P<binary>[01]{1,64})|0x(?P<hexadecimal>[0-9a-fA-F]{1,16})"
    r"|(?P<octal>0[0-7]{0,22})|(?P<decimal>[1-9][0-9]{0,19}))"
)
"""Within 64 bits or little more, so that no conversion is long."""
_BASES = {"binary": 2, "hexadecimal": 16, "octal": 8, "decimal": 10}
_SMALLEST, _BEYOND = -(2**63), 2**64


class ReadingError(KeybearerError):
    """A text can't be taken as manifests; the message names the line."""


class _MergeKey(str):
    """The key `<<`, told from a text of the same letters by what it is."""

    __slots__ = ()


MERGE_KEY: Final = _MergeKey("<<")
"""What a scalar is that merges, if it stands where a key does."""


class ScalarReader:
    """Reads scalars by the rules of PyYAML's safe loader, and holds tags that are written out to them."""

    def __init__(self) -> None:
        self._resolver = yaml.SafeLoader("")

    def read(self, event: yaml.ScalarEvent, line: int) -> JsonValue:
        """Return what a scalar says.

        Args:
            event: of the parser.
            line: where it stands.

        Raises:
            ReadingError: its tag is none of YAML's own, or says something else than its text.
        """
        text: str = event.value
        tag = None if event.tag == "!" else event.tag
        kind = self._kind_of(text, event.implicit) if tag is None else tag.removeprefix(_TAG)
        if kind == "str":
            return text
        if tag is not None and not self._is_of(kind, text):
            raise ReadingError(
                f"line {line} has a tag that its text doesn't match, or none that manifests have"
            )
        match kind:
            case "null":
                return None
            case "bool":
                return text.lower() in _TRUE
            case "int" | "float":
                return _integer(text) if kind == "int" else _float(text)
            case "merge":
                return MERGE_KEY
            case _:  # dates, and `=`
                return text

    def _kind_of(self, text: str, implicit: tuple[bool, bool]) -> str:
        tag: str = self._resolver.resolve(  # type: ignore[no-untyped-call] # the stubs leave it untyped
            yaml.ScalarNode, text, implicit
        )
        return tag.removeprefix(_TAG)

    def _is_of(self, kind: str, text: str) -> bool:
        """Tell whether a text is what a tag says: it would be read so without the tag, and comes to a number."""
        found = self._kind_of(text, (True, False))
        match kind:
            case "int":
                return found == kind and not isinstance(_integer(text), str)
            case "float":
                return found in ("int", kind) and not isinstance(_float(text), str)
            case _:
                return found == kind


def _integer(text: str) -> int | str:
    """Return a whole number; the text where there is none, as of `0x_`, beyond 64 bits or sixty-based.

    Sixty-based numbers are YAML 1.1's; nobody means them, and Kubernetes reads a text.
    """
    found = _INTEGER.fullmatch(text.replace("_", ""))
    if found is None:
        return text
    base, digits = next((_BASES[name], found[name]) for name in _BASES if found[name])
    number = int(found["sign"] + digits, base)
    return number if _SMALLEST <= number < _BEYOND else text


def _float(text: str) -> float | str:
    try:
        number = float(text.replace("_", ""))
    except ValueError:  # sixty-based, .inf or .nan: JSON has none of them
        return text
    return number if math.isfinite(number) else text
