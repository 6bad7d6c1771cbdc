"""Objects that take no key they don't know: syncOptions, destinationConfig, credentials (interface.md 2.1)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, JsonValue, StringConstraints

from keybearer.wire.base import WireModel

__all__ = ["EmptyIsAbsent", "NonEmpty", "StrictModel"]


class StrictModel(WireModel):
    """An unknown key is refused. A key that is null counts as absent, and answers leave it out."""

    model_config = ConfigDict(extra="forbid")

    def written(self) -> dict[str, JsonValue]:
        """Return the object as it is stored and answered."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


NonEmpty = Annotated[str, StringConstraints(min_length=1)]
"""A text of one character at least."""


def _absent_if_empty(given: object) -> object:
    return None if isinstance(given, str) and not given.strip() else given


EmptyIsAbsent = BeforeValidator(_absent_if_empty)
"""Of a field that may be left out: forms send the empty text of one that nobody filled in."""
