"""Reasons of a CertificateProfile's conditions, and what a person does about each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

__all__ = ["REMEDIES", "Reason"]


class Reason(StrEnum):
    """Why a condition is as it is; those of identities, services and restarts are the same as a SecretSync's."""

    ISSUED = "Issued"
    """Every certificate is in its Secret and valid."""
    PLANNED = "Planned"
    """`mode: Plan`: status.plan says what would be done and which rules of the policy stand against it."""
    SUSPENDED = "Suspended"
    """`mode: Suspended`: nothing is done."""

    ISSUING = "Issuing"
    """Certificates are being asked for; it goes on at once."""
    PENDING_APPROVAL = "PendingApproval"
    """A person has to approve a request in the service."""
    PENDING = "Pending"
    """The authority has not answered a request yet."""
    PENDING_VALIDATION = "PendingValidation"
    """The authority is checking that the names are ours."""
    TARGET_CONTESTED = "TargetContested"
    """Somebody else changes or deletes a Secret each time that it is put right."""
    REQUEST_FAILED = "RequestFailed"
    """The service could not have a request fulfilled."""
    REQUEST_REJECTED = "RequestRejected"
    """A request was refused by who approves, or nobody approved it in time."""
    REQUEST_REFUSED = "RequestRefused"
    """The service took no request: the policy, a limit or a missing right stands against it."""
    NOT_CONFORMANT = "NotConformant"
    """What was issued isn't what was asked for; it was not stored."""
    REVOKED = "Revoked"
    """The service says that a certificate was revoked, and `mode: CreateOnce` asks for no other."""
    MINT_BUDGET_USED = "MintBudgetUsed"
    """Keys were lost more often than the budget of an hour lets certificates be issued anew."""
    ISSUE_BUDGET_USED = "IssueBudgetUsed"
    """A certificate was requested as often as an hour allows: something makes a new one necessary each time."""
    RENEW_BEFORE_TOO_LONG = "RenewBeforeTooLong"
    """`renewBefore` is more than two thirds of the lifetime that the service gives; a third passes all the same."""
    CLOCK_DIFFERS = "ClockDiffers"
    """The operator's clock and the service's differ by more than a minute; the service's counts."""
    POLICY_VIOLATED = "PolicyViolated"
    """The policy doesn't allow what is asked for."""

    SPEC_INVALID = "SpecInvalid"
    """The spec can't be read, or breaks a rule that the CRD can't say."""
    PROFILE_NOT_FOUND = "ProfileNotFound"
    """`existing: true`, and the service has no such profile, or the identity can't see it."""
    PROFILE_CONFLICT = "ProfileConflict"
    """The service has a profile of this slug that isn't ours to change."""
    PROFILE_REFUSED = "ProfileRefused"
    """The service refuses the profile."""
    IMMUTABLE_FIELD = "ImmutableField"
    """Policy, authority or kind of issuer were changed, which the service can't do."""
    POLICY_NOT_FOUND = "PolicyNotFound"
    """The policy doesn't exist, or the identity can't see it."""
    AUTHORITY_NOT_FOUND = "AuthorityNotFound"
    """The authority doesn't exist, or the identity can't see it."""
    PROJECT_NOT_FOUND = "ProjectNotFound"
    """The project doesn't exist, or the identity can't see it."""
    CSR_INVALID = "CsrInvalid"
    """A certificate signing request can't be read, or isn't where the spec says."""
    KEYSTORE_PASSWORD_NOT_FOUND = "KeystorePasswordNotFound"
    """A Secret or one of its keys, which a keystore's password is in, doesn't exist."""
    TARGET_CONFLICT = "TargetConflict"
    """A Secret of that name exists and isn't this object's."""
    TOO_LARGE = "TooLarge"
    """A Secret would be larger than Kubernetes takes; it was not written."""
    TARGET_REFUSED = "TargetRefused"
    """The API server takes no such Secret."""

    NAMESPACE_TERMINATING = "NamespaceTerminating"
    """The namespace is being deleted."""
    CLUSTER_UNAVAILABLE = "ClusterUnavailable"
    """The API server could not be asked or refuses for now; tried again."""
    INTERNAL_ERROR = "InternalError"
    """A fault of Keybearer; the operator's log has it under the reconcile id of the message."""


REMEDIES: Mapping[Reason, str] = {
    Reason.ISSUED: "",
    Reason.PLANNED: "Read status.plan, then set spec.mode to Apply.",
    Reason.SUSPENDED: "Set spec.mode to Apply when it should work again.",
    Reason.ISSUING: "Nothing: it goes on by itself.",
    Reason.PENDING_APPROVAL: "Decide in the service: keybearer certificates requests lists what waits, "
    "keybearer certificates approve and reject decide.",
    Reason.PENDING: "Nothing: the authority is at work.",
    Reason.PENDING_VALIDATION: "Nothing, if the names are yours; otherwise take them out of the spec.",
    Reason.TARGET_CONTESTED: "End what the message names, or remove the certificate from the spec.",
    Reason.REQUEST_FAILED: "Mend what the message quotes; it is asked again, at once when the spec changes.",
    Reason.REQUEST_REJECTED: "Ask those who approve; it is asked again after an hour, at once when the spec changes.",
    Reason.REQUEST_REFUSED: "Change the spec or the policy, as the message says.",
    Reason.NOT_CONFORMANT: "Compare policy and profile in the service with the difference that the message names.",
    Reason.REVOKED: "Set spec.mode to Apply to have another one issued.",
    Reason.MINT_BUDGET_USED: "Find what deletes the Secret of keys again and again, or raise spec.hourlyMintBudget.",
    Reason.ISSUE_BUDGET_USED: "Find what makes new certificates necessary; the message names the need. "
    "Nothing else: it is asked for again later.",
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
    Reason.TARGET_CONFLICT: "Choose another secretName, delete the Secret, or set adopt if it belongs to nobody and "
    "is of the same type.",
    Reason.TOO_LARGE: "Spread the certificates over several objects, or leave out keystores, as the message says.",
    Reason.TARGET_REFUSED: "Change what the API server objects to.",
    Reason.NAMESPACE_TERMINATING: "Nothing: the namespace is on its way out.",
    Reason.CLUSTER_UNAVAILABLE: "Nothing: it is tried again.",
    Reason.INTERNAL_ERROR: "Look for the reconcile id of the message in the operator's log, and report it.",
}
"""What a person does about each reason; empty where nothing is to be done."""
