"""Why a target is not written: words for conditions. Each kind that uses one explains it among its own reasons."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["TargetReason"]


class TargetReason(StrEnum):
    """What stands against writing a target, or is left to do after it."""

    PLANNED = "Planned"
    NO_KEYS = "NoKeys"
    GUARDED = "Guarded"
    CONFLICT = "TargetConflict"
    CONTESTED = "TargetContested"
    MISSING = "TargetMissing"
    TOO_LARGE = "TooLarge"
    IMMUTABLE = "TargetImmutable"
    WORKLOAD_NOT_RESTARTED = "WorkloadNotRestarted"
