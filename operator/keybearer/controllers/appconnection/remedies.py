"""What a person does about each reason of an AppConnection."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.controllers.appconnection.reasons import Reason

__all__ = ["REMEDIES"]

REMEDIES: Mapping[Reason, str] = {
    Reason.CONNECTED: "",
    Reason.SPEC_INVALID: "Correct the field that the message names.",
    Reason.UNKNOWN_APP: "Correct spec.app or spec.method: keybearer connections options lists what there is.",
    Reason.CREDENTIALS_INVALID: "Correct the field of spec.credentials that the message names.",
    Reason.CREDENTIALS_NOT_FOUND: "Create the Secret, or its key, that the message names.",
    Reason.CONNECTION_CONFLICT: "Choose another name, or set spec.adopt if no other object manages the connection.",
    Reason.IMMUTABLE_FIELD: "Put the field back, or create another AppConnection and delete this one.",
    Reason.CONNECTION_REFUSED: "The message says who refuses, and why: correct credentials or address, or allow the "
    "address with keybearer serve --allow-outbound.",
    Reason.PROJECT_NOT_FOUND: "Correct the project, or give the identity a role in it.",
    Reason.IN_USE: "Delete the syncs that use it, or wait for spec.deletionDeadline.",
    Reason.CLUSTER_UNAVAILABLE: "Nothing: it is tried again.",
    Reason.INTERNAL_ERROR: "Look for the reconcile id of the message in the operator's log, and report it.",
}
"""What a person does about each reason; empty where nothing is to be done."""
