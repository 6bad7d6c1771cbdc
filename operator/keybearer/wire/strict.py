"""Objects that take no key they don't know: syncOptions, destinationConfig, credentials (interface.md 2.1)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, JsonValue, StringConstraints

from keybearer.wire.bodies import BodyModel

__all__ = ["BlankIsAbsent", "NonEmpty", "StrictModel"]


class StrictModel(BodyModel):
    """An unknown key is refused. A key that is null counts as absent, and answers leave it out."""

    model_config = ConfigDict(extra="forbid")

    def written(self) -> dict[str, JsonValue]:
        """Return the object as it is stored and answered."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


NonEmpty = Annotated[str, StringConstraints(min_length=1)]
"""A text of one character at least."""


def _absent_if_blank(given: object) -> object:
    return None if isinstance(given, str) and not given.strip() else given


BlankIsAbsent = BeforeValidator(_absent_if_blank)
"""Of a field of a form: nobody filled in white space. Empty texts are `BodyModel`'s to read."""
