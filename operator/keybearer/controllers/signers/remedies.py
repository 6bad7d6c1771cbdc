"""What the reasons mean that requests of others are answered with, and what a person does about each."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["REMEDIES"]

_ASK_ANEW = "then ask anew: a request that has failed stays so."

REMEDIES: Mapping[str, tuple[str, str]] = {
    "CertificateIssued": ("The certificate was handed over.", ""),
    "Denied": ("Who approves has denied the request.", "Ask them; nothing is signed."),
    "ForeignNamespace": (
        "A pod names a profile of another namespace.",
        "Name a profile of the pod's own namespace in signerName.",
    ),
    "InvalidUnverifiedUserAnnotations": (
        "The pod's volume has user annotations, which this signer doesn't know.",
        "Take userAnnotations out of the podCertificate volume.",
    ),
    "NoNames": (
        "A pod's request has no names, and the profile has none for it.",
        "Give the profile defaults.commonName or defaults.subjectAltNames.",
    ),
    "NotConformant": (
        "What the service issued isn't what was asked for. It was revoked and not handed over.",
        "Compare the profile with the difference that the message names, " + _ASK_ANEW,
    ),
    "Pending": ("The authority has not answered yet.", "Nothing: it is looked at again."),
    "PendingApproval": (
        "Somebody has to agree in the service.",
        "keybearer certificates requests lists what waits, approve and reject decide.",
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
        "The service could not have the request fulfilled.",
        "Mend what the message quotes, " + _ASK_ANEW,
    ),
    "RequestInvalid": (
        "The signing request can't be read, or contradicts the object.",
        "Correct it, " + _ASK_ANEW,
    ),
    "RequestRefused": (
        "The service took no request: the policy, a limit or a missing right stands against it.",
        "Change the request or the policy, " + _ASK_ANEW,
    ),
    "RequestRejected": ("Somebody rejected the request in the service.", "Ask them, " + _ASK_ANEW),
    "RequestTooLong": (
        "The signing request is longer than the service takes.",
        "Ask for fewer names, or for an elliptic key.",
    ),
    "SignNotAllowed": (
        "The user who asked may not use the profile.",
        "Grant them the verb sign on the certificateprofile, " + _ASK_ANEW,
    ),
    "StubRequestMissing": (
        "A pod's request holds a bare public key, which the service doesn't sign.",
        "Run kubelets of Kubernetes 1.36 or newer, which send stubPKCS10Request.",
    ),
    "StubRequestNotEmpty": (
        "A pod's stub request holds more than its key.",
        "Correct what makes the request.",
    ),
    "UnsupportedKeyType": (
        "The service signs no keys of this kind.",
        "Use a key on a P curve (ECDSAP256, ECDSAP384, ECDSAP521) or RSA (RSA3072, RSA4096).",
    ),
    "UsagesDiffer": (
        "The signing request asks for other usages than the object.",
        "Make them agree, " + _ASK_ANEW,
    ),
    "UsagesUnsupported": ("The service issues no certificates for these usages.", "Ask for others."),
}
"""Meaning and remedy of each reason. Beside these, a request that waits for its profile is told that one's reason."""
