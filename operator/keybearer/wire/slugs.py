"""Names that must be slugs, refused in the published words (wire.md section 4.2)."""

from __future__ import annotations

import re

from pydantic import BeforeValidator
from pydantic.json_schema import WithJsonSchema

__all__ = ["slug_rule", "slug_schema"]

_FORM = "[a-z0-9]+(-[a-z0-9]+)*"


def slug_rule(field: str, most: int) -> BeforeValidator:
    """Return the rule of a slug of 1 to `most` characters: folded and trimmed first, then judged.

    Args:
        field: as messages call it.
        most: in characters.
    """

    def judge(given: object) -> object:
        if not isinstance(given, str):
            return given
        folded = given.strip().lower()
        if not folded:
            msg = f"{field} field must be at least 1 character"
        elif len(folded) > most:
            msg = f"{field} field must be at most {most} characters"
        elif not re.fullmatch(_FORM, folded):
            msg = f"{field} field can only contain letters, numbers, and hyphens"
        else:
            return folded
        raise ValueError(msg)

    return BeforeValidator(judge)


def slug_schema(most: int) -> WithJsonSchema:
    """Return how OpenAPI tells that rule; capital letters are taken and folded."""
    pattern = "^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$"
    return WithJsonSchema({"type": "string", "minLength": 1, "maxLength": most, "pattern": pattern})
