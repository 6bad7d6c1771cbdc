"""All destinations that have a driver."""

from __future__ import annotations

from keybearer.wire.destinations.base import DestinationModel

__all__ = ["DRIVEN", "destination_model"]

DRIVEN: tuple[DestinationModel, ...] = ()

_BY_NAME = {destination.name: destination for destination in DRIVEN}


def destination_model(name: str) -> DestinationModel | None:
    """Return the destination of interface.md's name; None for one without a driver."""
    return _BY_NAME.get(name)
