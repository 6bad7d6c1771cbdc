"""What is to be done about each reason of an AppConnection."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.controllers.appconnection.reasons import Reason
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.remedy import SHARED_REMEDIES, Remedy

__all__ = ["REMEDIES"]

REMEDIES: Mapping[str, Remedy] = {
    **SHARED_REMEDIES,
    Reason.CONNECTED: Remedy("", turn=Turn.NOBODY),
    Reason.UNKNOWN_APP: Remedy("Correct spec.app.", "keybearer connections options", about="spec.app"),
    Reason.CREDENTIALS_INVALID: Remedy(
        "Correct the field of spec.credentials that the message names.", about="spec.credentials"
    ),
    Reason.CREDENTIALS_NOT_FOUND: Remedy(
        "Create the Secret, or its key, that the message names.", about="spec.credentials"
    ),
    Reason.CONNECTION_CONFLICT: Remedy("Do what the message says.", about="spec.name"),
    Reason.IMMUTABLE_FIELD: Remedy(
        "Put the field back, or create another AppConnection and delete this one."
    ),
    Reason.CONNECTION_REFUSED: Remedy(
        "Correct the credentials or the address as the message says.",
        about="spec.credentials",
    ),
    Reason.IN_USE: Remedy(
        "Delete the syncs that use it, or wait for spec.deletionDeadline.",
        "keybearer syncs list --project {project}",
    ),
}
"""What is to be done about each reason."""
