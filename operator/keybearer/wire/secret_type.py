"""Types of secrets, apart from the models: a client that reads secrets loads none of those."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["SecretType"]


class SecretType(StrEnum):
    """Shared by all who may read, or one user's override."""

    SHARED = "shared"
    PERSONAL = "personal"
