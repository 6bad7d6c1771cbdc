"""Reasons of a CertificateProfile's conditions, and what a person does about each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.remedy import AS_THE_MESSAGE_SAYS, SHARED_REMEDIES, Remedy

__all__ = ["REMEDIES", "Reason"]


class Reason(StrEnum):
    """Why a condition is as it is; those of identities, services and restarts are the same as a SecretSync's."""

    ISSUED = "Issued"
    """Every certificate is in its Secret and valid."""
    PLANNED = "Planned"
    """`mode: Plan`: status.plan says what would be done, and which rules of the policy don't allow it."""
    SUSPENDED = "Suspended"
    """`mode: Suspended`: nothing is done."""

    ISSUING = "Issuing"
    """The operator is requesting certificates."""
    PENDING_APPROVAL = "PendingApproval"
    """A person must approve a request in the service."""
    PENDING = "Pending"
    """The authority has not answered a request yet."""
    PENDING_VALIDATION = "PendingValidation"
    """The authority is checking that the names are yours."""
    TARGET_CONTESTED = "TargetContested"
    """Somebody else changes or deletes a Secret each time that the operator repairs it."""
    REQUEST_FAILED = "RequestFailed"
    """The authority could not fulfil a request."""
    REQUEST_REJECTED = "RequestRejected"
    """An approver rejected a request, or nobody approved it in time."""
    REQUEST_REFUSED = "RequestRefused"
    """The service refused a request because of the policy, a limit or a missing right."""
    NOT_CONFORMANT = "NotConformant"
    """The service issued something else than was requested. It was not stored."""
    REVOKED = "Revoked"
    """The service says that a certificate was revoked, and `mode: CreateOnce` requests no other."""
    MINT_BUDGET_USED = "MintBudgetUsed"
    """Private keys were lost so often that the limit of new certificates for this hour is used up."""
    ISSUE_BUDGET_USED = "IssueBudgetUsed"
    """A certificate was requested as often as one hour allows. Something makes a new one necessary each time."""
    RENEW_BEFORE_TOO_LONG = "RenewBeforeTooLong"
    """`renewBefore` is over two thirds of the lifetime that the service gives. A third of it passes nevertheless."""
    CLOCK_DIFFERS = "ClockDiffers"
    """The clocks of the operator and the service differ by more than a minute. The service's clock decides."""
    POLICY_VIOLATED = "PolicyViolated"
    """The policy doesn't allow the request."""

    SPEC_INVALID = "SpecInvalid"
    """The spec can't be read, or breaks a rule that the CRD can't say."""
    PROFILE_NOT_FOUND = "ProfileNotFound"
    """`existing: true`, and the service has no such profile, or the identity can't see it."""
    PROFILE_CONFLICT = "ProfileConflict"
    """The service has a profile with this slug, and this object may not change it."""
    PROFILE_REFUSED = "ProfileRefused"
    """The service refuses the profile."""
    IMMUTABLE_FIELD = "ImmutableField"
    """The policy, the authority or the kind of issuer was changed. The service can't do that."""
    POLICY_NOT_FOUND = "PolicyNotFound"
    """The policy doesn't exist, or the identity can't see it."""
    AUTHORITY_NOT_FOUND = "AuthorityNotFound"
    """The authority doesn't exist, or the identity can't see it."""
    PROJECT_NOT_FOUND = "ProjectNotFound"
    """The project doesn't exist, or the identity can't see it."""
    CSR_INVALID = "CsrInvalid"
    """A certificate signing request can't be read, or isn't where the spec says."""
    KEYSTORE_PASSWORD_NOT_FOUND = "KeystorePasswordNotFound"
    """The Secret with a keystore's password, or its key, doesn't exist."""
    TARGET_CONFLICT = "TargetConflict"
    """A Secret with that name exists, and this object doesn't own it."""
    TOO_LARGE = "TooLarge"
    """A Secret would be larger than Kubernetes allows. It was not written."""
    TARGET_REFUSED = "TargetRefused"
    """The API server refuses the Secret."""

    NAMESPACE_TERMINATING = "NamespaceTerminating"
    """The namespace is being deleted."""
    CLUSTER_UNAVAILABLE = "ClusterUnavailable"
    """The operator can't reach the API server, or the API server refuses for now. The operator tries again."""
    INTERNAL_ERROR = "InternalError"
    """A bug of Keybearer. The message has a reconcile id, under which the operator's log has the details."""


REMEDIES: Mapping[str, Remedy] = {
    **SHARED_REMEDIES,
    Reason.ISSUED: Remedy("", turn=Turn.NOBODY),
    Reason.PLANNED: Remedy("Look at status.plan, then set spec.mode to Apply.", about="spec.mode"),
    Reason.ISSUING: Remedy("Nothing: the operator continues.", turn=Turn.NOBODY),
    Reason.PENDING_APPROVAL: Remedy(
        "Approve or reject the request in the service.",
        "keybearer certificates requests --project {project}",
        turn=Turn.SERVICE_ADMINISTRATOR,
    ),
    Reason.PENDING: Remedy("Nothing: the authority is at work.", turn=Turn.NOBODY),
    Reason.PENDING_VALIDATION: Remedy(
        "Nothing if the names are yours. Otherwise remove them from the spec.", turn=Turn.NOBODY
    ),
    Reason.TARGET_CONTESTED: Remedy(
        "Stop the program that the message names, or remove the certificate from the spec."
    ),
    Reason.REQUEST_FAILED: Remedy(
        "Correct what the message quotes. The operator asks again later, and at once when the spec changes."
    ),
    Reason.REQUEST_REJECTED: Remedy(
        "Ask the approvers. The operator asks again after an hour, and at once when the spec changes.",
        turn=Turn.SERVICE_ADMINISTRATOR,
    ),
    Reason.REQUEST_REFUSED: Remedy(
        "Change the spec or the policy, as the message says.",
        "keybearer policies show {policy} --project {project}",
        about="spec.certificates",
    ),
    Reason.NOT_CONFORMANT: Remedy(
        "Compare policy and profile in the service with the difference that the message names.",
        turn=Turn.SERVICE_ADMINISTRATOR,
    ),
    Reason.REVOKED: Remedy("Set spec.mode to Apply to get another certificate.", about="spec.mode"),
    Reason.MINT_BUDGET_USED: Remedy(
        "Find out what deletes the Secret of keys again and again, or raise spec.hourlyMintBudget.",
        about="spec.hourlyMintBudget",
    ),
    Reason.ISSUE_BUDGET_USED: Remedy(
        "Find out what makes new certificates necessary; the message names the need. The operator asks again later."
    ),
    Reason.RENEW_BEFORE_TOO_LONG: Remedy(
        "Lower renewBefore, or raise the lifetime in the spec or in the profile.", about="spec.renewBefore"
    ),
    Reason.CLOCK_DIFFERS: Remedy(
        "Correct the clock of the operator's node, or that of the service.", turn=Turn.CLUSTER_ADMINISTRATOR
    ),
    Reason.POLICY_VIOLATED: Remedy(
        "Change the policy or the spec, as status.plan says.", about="spec.certificates"
    ),
    Reason.PROFILE_NOT_FOUND: Remedy(
        "Correct spec.slug, or remove existing so that the operator makes the profile.",
        "keybearer profiles list --project {project}",
        about="spec.slug",
    ),
    Reason.PROFILE_CONFLICT: Remedy("Do what the message says.", about="spec.slug"),
    Reason.PROFILE_REFUSED: AS_THE_MESSAGE_SAYS,
    Reason.IMMUTABLE_FIELD: Remedy(
        "Put the field back. Or create another CertificateProfile with other names of Secrets, and delete this one "
        "when nothing reads its Secrets: they are deleted with it."
    ),
    Reason.POLICY_NOT_FOUND: Remedy(
        "Correct spec.policyRef.", "keybearer policies list --project {project}", about="spec.policyRef"
    ),
    Reason.AUTHORITY_NOT_FOUND: Remedy(
        "Correct spec.caRef.", "keybearer authorities list --project {project}", about="spec.caRef"
    ),
    Reason.CSR_INVALID: Remedy(
        "Correct the signing request, or the place that csr names.", about="spec.certificates[].csr"
    ),
    Reason.KEYSTORE_PASSWORD_NOT_FOUND: Remedy("Create the Secret, or its key, that the message names."),
    Reason.TARGET_CONFLICT: Remedy(
        "Choose another secretName, or free the Secret as the message says. Don't delete its owner before.",
        about="spec.certificates[].secretName",
    ),
    Reason.TOO_LARGE: Remedy(
        "Spread the certificates over several objects, or leave out keystores, as the message says.",
        about="spec.certificates",
    ),
}
"""What is to be done about each reason."""
