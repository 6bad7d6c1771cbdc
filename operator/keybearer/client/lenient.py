"""How what is read from the wire bends.

Absent and null texts and lists are empty, flags are false, and unknown fields are ignored.
"""

from __future__ import annotations

from pydantic import with_config

from keybearer.interface.shapes import Flag, Several, Shape, Text

__all__ = ["Flag", "Several", "Text", "from_wire"]

from_wire = with_config(Shape.__pydantic_config__)
"""Decorates a dataclass that is read from the wire's spelling."""
