"""What a person does about each reason of a SecretSync: `keybearer explain` and the reference say it from here."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.controllers.secretsync.key_problems import KeyProblemReason
from keybearer.controllers.secretsync.reasons import Reason

__all__ = ["KEY_REMEDIES", "REMEDIES"]

REMEDIES: Mapping[Reason, str] = {
    Reason.SYNCED: "",
    Reason.PLANNED: "Look at the plan, then approve it, or set spec.mode to Apply: {approve-plan}",
    Reason.SUSPENDED: "Set spec.mode to Apply when it should work again.",
    Reason.SPEC_INVALID: "Correct the field that the message names.",
    Reason.IDENTITY_NOT_FOUND: "Create the Secret {identity} in namespace {namespace}, with clientId and "
    "clientSecret of a machine identity (keybearer identities create).",
    Reason.IDENTITY_INVALID: "Correct the keys of Secret {identity} as the message says.",
    Reason.URL_NOT_ALLOWED: "Take url out of Secret {identity}, or start the operator with --allow-service-url.",
    Reason.SHARED_IDENTITY_REFUSED: "Name an identity of your own in spec.identityRef, or have the operator's "
    "configuration grant its shared one to this namespace.",
    Reason.CREDENTIALS_REJECTED: "Put fresh credentials into Secret {identity}: keybearer identities "
    "client-secret create IDENTITY_ID",
    Reason.PERMISSION_DENIED: "Give the identity a role in the project, such as viewer.",
    Reason.SOURCE_NOT_FOUND: "Correct project, environment or secretPath: keybearer folders list shows them.",
    Reason.SERVICE_UNAVAILABLE: "Nothing, if the service comes back: it is tried again. Check that it runs.",
    Reason.CERTIFICATE_UNTRUSTED: "Put the certificate of the service's authority, in PEM, into the key caBundle of "
    "Secret {identity}.",
    Reason.TIMED_OUT: "Look at what the message names; it is tried again by itself.",
    Reason.SERVICE_THROTTLED: "Nothing: it is tried again. If it stays so, raise spec.refreshInterval.",
    Reason.SERVICE_REFUSED: "Change what the message quotes.",
    Reason.NO_KEYS: "Put secrets into the source, or widen source.keys.",
    Reason.TEMPLATE_FAILED: "Correct the template at the line that the message names.",
    Reason.RENDERER_UNAVAILABLE: "Nothing: it is tried again. If it stays so, look at the operator's memory limit.",
    Reason.TEMPLATE_NOT_FOUND: "Create the ConfigMap with the templates, or correct its name and key.",
    Reason.TARGET_CONFLICT: "Choose another spec.target.name, or set target.adopt, or creationPolicy: Merge.",
    Reason.TARGET_CONTESTED: "End what the message names, or take the field out of the spec.",
    Reason.PUSHED_TOO_OFTEN: "Find out what changes the source, or the sync in the service.",
    Reason.TARGET_MISSING: "Create the target, or set creationPolicy: Owner.",
    Reason.TOO_LARGE: "Exclude keys, shorten their names, or spread them over several objects.",
    Reason.TARGET_IMMUTABLE: "Set target.recreate if it may be deleted and made anew.",
    Reason.TARGET_REFUSED: "Change what the API server objects to.",
    Reason.TYPE_NOT_ALLOWED: "Choose another target.type, or start the operator with --allow-target-type.",
    Reason.GUARDED: "If so many keys are to vanish, let them go: {release-guard}",
    Reason.WORKLOAD_NOT_RESTARTED: "Correct target.rolloutRestart, or let the operator patch workloads.",
    Reason.PUSHING: "Nothing: the service pushes; the end is told here.",
    Reason.PUSH_FAILED: "Mend what the message names, then push again: {sync}",
    Reason.CONNECTION_NOT_READY: "Look at it: kubectl -n {namespace} describe appconnection {connection}",
    Reason.UNKNOWN_DESTINATION: "Correct spec.destination: keybearer syncs options lists what there is.",
    Reason.INVALID_DESTINATION_CONFIG: "Correct the field that the message names.",
    Reason.SOURCE_NOT_PUSHABLE: "Take what the message names out of spec.source, or write a target instead.",
    Reason.SYNC_CONFLICT: "Set spec.syncName to a name that is free: keybearer syncs list shows which are taken.",
    Reason.IMMUTABLE_DESTINATION: "Create another SecretSync for the other destination, and delete this one.",
    Reason.SYNC_REFUSED: "Change what the message quotes.",
    Reason.CLUSTER_ID_UNKNOWN: "Start the operator with --cluster-id (operator.clusterId of the chart).",
    Reason.NAMESPACE_TERMINATING: "Nothing: the namespace is on its way out.",
    Reason.CLUSTER_UNAVAILABLE: "Nothing: it is tried again.",
    Reason.INTERNAL_ERROR: "Look for the reconcile id of the message in the operator's log, and report it.",
}
"""What a person does about each reason; braces are filled in."""

KEY_REMEDIES: Mapping[KeyProblemReason, tuple[str, str]] = {
    KeyProblemReason.VALUE_HIDDEN: (
        "The identity may list the secret, and not read its value.",
        "Grant it the action read-value there, or exclude the key in source.keys.",
    ),
    KeyProblemReason.KEY_NOT_FOUND: (
        "An item of source.keys.items names a secret that the source doesn't hold, or not in that version.",
        "Create the secret, or correct the item.",
    ),
    KeyProblemReason.INVALID_PATTERN: (
        "A pattern can't be read, or the patterns are too large for so many secrets.",
        "Correct the pattern that the message names, or use fewer, simpler ones over narrower sources.",
    ),
    KeyProblemReason.INVALID_VALUE: (
        "A value isn't what its item takes it for: JSON with that property, or Base64.",
        "Correct the value in the service, or property and decode of the item.",
    ),
    KeyProblemReason.CLASH: (
        "Two secrets become the same key; the message names the one that is written.",
        "Rename one of them in source.keys, if both are wanted.",
    ),
    KeyProblemReason.IMPORT_OVERRIDDEN: (
        "An imported secret has the name of another one, which wins.",
        "Nothing, if that is meant; otherwise rename one of them in the service.",
    ),
    KeyProblemReason.INVALID_KEY: (
        "The name can't be a key: 1 to 253 letters, digits, dots, hyphens and underscores, not beginning with `..`.",
        "Rename or exclude it in source.keys.",
    ),
    KeyProblemReason.MISSING_TYPE_KEY: (
        "The target's type demands a key that isn't there.",
        "Give the key by keys.items, keys.rename or a template, or choose another target.type.",
    ),
    KeyProblemReason.INVALID_TYPE_VALUE: (
        "The target's type demands another form of this key's value.",
        "Correct the value in the service, or build it with a template.",
    ),
    KeyProblemReason.TOO_LARGE: (
        "The values are larger together than Kubernetes takes, or the JSON that items take properties of is.",
        "Exclude keys, or spread them over several objects.",
    ),
}
"""What each reason of `status.keys[]` means, and what a person does about it."""
