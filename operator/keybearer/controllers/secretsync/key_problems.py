"""What can be wrong with a key: why a secret is not, or not as it stands, a key of the target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["KeyProblem", "KeyProblemReason"]


class KeyProblemReason(StrEnum):
    """Why a secret is not, or not as it stands, a key of the target."""

    VALUE_HIDDEN = "ValueHidden"
    KEY_NOT_FOUND = "KeyNotFound"
    INVALID_PATTERN = "InvalidPattern"
    INVALID_VALUE = "InvalidValue"
    CLASH = "Clash"
    IMPORT_OVERRIDDEN = "ImportOverridden"
    INVALID_KEY = "InvalidKey"
    MISSING_TYPE_KEY = "MissingTypeKey"
    INVALID_TYPE_VALUE = "InvalidTypeValue"
    TOO_LARGE = "TooLarge"

    @property
    def blocking(self) -> bool:
        """Whether writing the target would lose something: then the last good one stays."""
        return self not in (KeyProblemReason.CLASH, KeyProblemReason.IMPORT_OVERRIDDEN)


@dataclass(frozen=True, slots=True)
class KeyProblem:
    """One key that needs attention; `message` can be shown to anybody who may see names."""

    key: str
    reason: KeyProblemReason
    message: str
    source_ref: str | None = None

    @property
    def blocking(self) -> bool:
        """Whether writing the target would lose something."""
        return self.reason.blocking
