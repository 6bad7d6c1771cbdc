"""What a person does about each reason of a CertificateProfile."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.controllers.certificateprofile.reasons import Reason

__all__ = ["REMEDIES"]

REMEDIES: Mapping[Reason, str] = {
    Reason.ISSUED: "",
    Reason.PLANNED: "Read status.plan, then set spec.mode to Apply.",
    Reason.SUSPENDED: "Set spec.mode to Apply when it should work again.",
    Reason.ISSUING: "Nothing: it goes on by itself.",
    Reason.PENDING_APPROVAL: "Decide in the service: keybearer certificates requests lists what waits, "
    "keybearer certificates approve and reject decide.",
    Reason.PENDING: "Nothing: the authority is at work.",
    Reason.PENDING_VALIDATION: "Nothing, if the names are yours; otherwise take them out of the spec.",
    Reason.BACKING_OFF: "Wait for nextAttemptTime, or mend what the message names; a change of the spec asks anew.",
    Reason.REQUEST_FAILED: "Mend what the message quotes; it is asked again, at once when the spec changes.",
    Reason.REQUEST_REJECTED: "Ask those who approve; it is asked again after an hour, at once when the spec changes.",
    Reason.REQUEST_REFUSED: "Change the spec or the policy, as the message says.",
    Reason.NOT_CONFORMANT: "Compare policy and profile in the service with the difference that the message names.",
    Reason.REVOKED: "Set spec.mode to Apply to have another one issued.",
    Reason.BUDGET_USED: "Find what deletes the Secret of keys again and again, or raise spec.hourlyMintBudget.",
    Reason.ISSUES_USED: "Find what makes it needed over and over: the message names the need. It goes on by itself.",
    Reason.RENEW_BEFORE_TOO_LONG: "Lower renewBefore, or raise the lifetime in the spec, or in the profile.",
    Reason.CLOCK_DIFFERS: "Correct the clock of the operator's node, or that of the service.",
    Reason.POLICY_VIOLATED: "Change the policy or the spec, as status.plan says.",
    Reason.SPEC_INVALID: "Correct the field that the message names.",
    Reason.PROFILE_NOT_FOUND: "Correct spec.slug, or take existing out so that the operator makes the profile.",
    Reason.PROFILE_CONFLICT: "Choose another spec.slug, set existing to use that profile, or adopt to take it over.",
    Reason.PROFILE_REFUSED: "Correct what the message quotes, or give the identity the role member of the project.",
    Reason.IMMUTABLE_FIELD: "Put the field back, or create another CertificateProfile and delete this one.",
    Reason.POLICY_NOT_FOUND: "Correct spec.policyRef: keybearer policies list shows what there is.",
    Reason.AUTHORITY_NOT_FOUND: "Correct spec.caRef: keybearer authorities list shows what there is.",
    Reason.PROJECT_NOT_FOUND: "Correct the project, or give the identity a role in it.",
    Reason.CSR_INVALID: "Correct the signing request, or the place that csr names.",
    Reason.KEYSTORE_PASSWORD_NOT_FOUND: "Create the Secret, or its key, that the message names.",
    Reason.TARGET_CONFLICT: "Choose another secretName, delete the Secret, or set adopt if it is of the same type.",
    Reason.TARGET_REFUSED: "Change what the API server objects to.",
    Reason.NAMESPACE_TERMINATING: "Nothing: the namespace is on its way out.",
    Reason.CLUSTER_UNAVAILABLE: "Nothing: it is tried again.",
    Reason.INTERNAL_ERROR: "Look for the reconcile id of the message in the operator's log, and report it.",
}
"""What a person does about each reason; empty where nothing is to be done."""
