"""What tests of the interface need of a destination without a server: its copy's module has it as `EXAMPLE`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["Example", "example_of"]


@dataclass(frozen=True)
class Example:
    """Bodies that are right, and the limits of their fields: by hand from the vendor's words, not from our models.

    Attributes:
        config: a `destinationConfig`.
        credentials: of each method, by its name.
        credential_limits: method, field, and the least and most characters; None where requests bound them anyway.
        config_limits: field, and the least and most characters.
    """

    config: Mapping[str, Any]
    credentials: Mapping[str, Mapping[str, Any]]
    credential_limits: tuple[tuple[str, str, int, int | None], ...] = ()
    config_limits: tuple[tuple[str, int, int], ...] = ()


def example_of(destination: str) -> Example:
    """Return the example of `support.remotes.` and the destination's name, with underscores."""
    example = import_module(f"support.remotes.{destination.replace('-', '_')}").EXAMPLE
    assert isinstance(example, Example)
    return example
