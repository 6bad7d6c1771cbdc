"""What the reasons mean that requests of others are answered with, and what a person does about each."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["REMEDIES"]

_ASK_AGAIN = "Then make a new request: one that has failed is never tried again."

REMEDIES: Mapping[str, tuple[str, str]] = {
    "CertificateIssued": ("The certificate was handed over.", ""),
    "Denied": ("An approver denied the request.", "Ask the approver. Nothing is signed."),
    "ForeignNamespace": (
        "A pod names a profile of another namespace.",
        "Name a profile of the pod's own namespace in signerName.",
    ),
    "InvalidUnverifiedUserAnnotations": (
        "The pod's volume has user annotations, which this signer doesn't know.",
        "Remove userAnnotations from the podCertificate volume.",
    ),
    "NoNames": (
        "A pod's request has no names, and the profile has no names for it.",
        "Give the profile defaults.commonName or defaults.subjectAltNames.",
    ),
    "NotConformant": (
        "The service issued something else than was requested. It was revoked, and not handed over.",
        "Compare the profile with the difference that the message names. " + _ASK_AGAIN,
    ),
    "Pending": ("The authority has not answered yet.", "Nothing: the operator looks again."),
    "PendingApproval": (
        "Somebody must approve the request in the service.",
        "List the requests: keybearer certificates requests. Then approve or reject it.",
    ),
    "PendingValidation": (
        "The authority is checking that the names are yours.",
        "Nothing, if they are.",
    ),
    "ProfileNotFound": (
        "There is no such CertificateProfile, or it is being deleted.",
        "Create the profile: the request waits for it.",
    ),
    "ProfileNotReady": (
        "The profile isn't there in the service yet.",
        "Look at the conditions of the CertificateProfile: the request waits for it.",
    ),
    "ProfilePlan": ("The profile has mode: Plan and issues nothing.", "Set its spec.mode to Apply."),
    "ProfileSuspended": (
        "The profile has mode: Suspended and issues nothing.",
        "Set its spec.mode to Apply.",
    ),
    "RequestFailed": (
        "The authority could not fulfil the request.",
        "Correct what the message quotes. " + _ASK_AGAIN,
    ),
    "RequestInvalid": (
        "The signing request can't be read, or contradicts the object.",
        "Correct it. " + _ASK_AGAIN,
    ),
    "RequestRefused": (
        "The service refused the request because of the policy, a limit or a missing right.",
        "Change the request or the policy. " + _ASK_AGAIN,
    ),
    "RequestRejected": ("Somebody rejected the request in the service.", "Ask them. " + _ASK_AGAIN),
    "RequestTooLong": (
        "The signing request is longer than the service allows.",
        "Ask for fewer names, or for an elliptic key.",
    ),
    "SignNotAllowed": (
        "The user who made the request may not use the profile.",
        "Grant the user the verb sign on the certificateprofile. " + _ASK_AGAIN,
    ),
    "StubRequestMissing": (
        "A pod's request has a bare public key. The service doesn't sign those.",
        "Run kubelets of Kubernetes 1.36 or newer, which send stubPKCS10Request.",
    ),
    "StubRequestNotEmpty": (
        "A pod's stub request has more than its key.",
        "Correct the program that makes the request.",
    ),
    "UnsupportedKeyType": (
        "The service doesn't sign keys of this kind.",
        "Use a key on a P curve (ECDSAP256, ECDSAP384, ECDSAP521) or RSA (RSA3072, RSA4096).",
    ),
    "UsagesDiffer": (
        "The signing request and the object name different usages.",
        "Make them the same. " + _ASK_AGAIN,
    ),
    "UsagesUnsupported": (
        "The service doesn't issue certificates for these usages.",
        "Request other usages.",
    ),
}
"""Meaning and remedy of each reason. Beside these, a request that waits for its profile is told that one's reason."""
