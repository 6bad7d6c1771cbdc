"""The mode of a SecretSync or a CertificateProfile: the same words mean the same in both."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Mode"]


class Mode(StrEnum):
    """What the operator does with what it planned."""

    APPLY = "Apply"
    PLAN = "Plan"
    SUSPENDED = "Suspended"
    CREATE_ONCE = "CreateOnce"
