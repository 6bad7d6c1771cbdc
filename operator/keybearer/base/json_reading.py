"""Reads what the API server's JSON holds: a part of another type than expected counts as absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

__all__ = ["list_of", "mapping_of", "text_of", "texts_of"]


def text_of(value: JsonValue) -> str:
    """Return a text; empty for anything else."""
    return value if isinstance(value, str) else ""


def mapping_of(value: JsonValue) -> Mapping[str, JsonValue]:
    """Return an object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: JsonValue) -> Sequence[JsonValue]:
    """Return a list; empty for anything else."""
    return value if isinstance(value, list) else ()


def texts_of(value: JsonValue) -> dict[str, str]:
    """Return those members of an object that are texts; empty for anything else."""
    return {name: text for name, text in mapping_of(value).items() if isinstance(text, str)}
