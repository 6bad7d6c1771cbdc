"""The drivers behind the models of `keybearer.wire.destinations.registry`, by the same names."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.outbound.destinations.protocol import Driver

__all__ = ["DRIVERS"]

DRIVERS: Mapping[str, Driver] = {}
