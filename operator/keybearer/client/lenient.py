"""How what is read from the wire bends.

Absent and null texts and lists are empty, flags are false, and unknown fields are ignored.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BeforeValidator, ConfigDict, with_config
from pydantic.alias_generators import to_camel

__all__ = ["Flag", "Several", "Text", "from_wire"]

T = TypeVar("T")


def _null_to_text(given: object) -> object:
    return "" if given is None else given


def _null_to_list(given: object) -> object:
    return () if given is None else given


def _null_to_false(given: object) -> object:
    return False if given is None else given


Flag = Annotated[bool, BeforeValidator(_null_to_false)]
Text = Annotated[str, BeforeValidator(_null_to_text)]
Several = Annotated[tuple[T, ...], BeforeValidator(_null_to_list)]
from_wire = with_config(ConfigDict(alias_generator=to_camel, extra="ignore", hide_input_in_errors=True))
"""Decorates a dataclass that is read from the wire's spelling."""
