"""Reads JSON of others, such as objects of the API server: a part of another type than expected counts as absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from keybearer.base.clock import parse_instant

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = ["instant_of", "list_of", "mapping_of", "mappings_of", "text_of", "texts_of"]


def instant_of(value: JsonValue) -> datetime | None:
    """Return the instant of a text; None for anything else."""
    try:
        return parse_instant(text_of(value))
    except ValueError:
        return None


def text_of(value: JsonValue) -> str:
    """Return a text; empty for anything else."""
    return value if isinstance(value, str) else ""


def mapping_of(value: JsonValue) -> Mapping[str, JsonValue]:
    """Return an object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: JsonValue) -> Sequence[JsonValue]:
    """Return a list; empty for anything else."""
    return value if isinstance(value, list) else ()


def mappings_of(value: JsonValue) -> tuple[Mapping[str, JsonValue], ...]:
    """Return the members of a list, those that are no objects as empty ones; empty for anything else."""
    return tuple(map(mapping_of, list_of(value)))


def texts_of(value: JsonValue) -> dict[str, str]:
    """Return those members of an object that are texts; empty for anything else."""
    return {name: text for name, text in mapping_of(value).items() if isinstance(text, str)}
