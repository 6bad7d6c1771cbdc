"""Reasons of a SecretSync's conditions and of its keys, and what a person does about each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["KEY_REMEDIES", "REMEDIES", "KeyProblem", "KeyProblemReason", "Reason", "no_keys_message"]


class KeyProblemReason(StrEnum):
    """Why a secret is not, or not as it stands, a key of the target."""

    VALUE_HIDDEN = "ValueHidden"
    KEY_NOT_FOUND = "KeyNotFound"
    INVALID_PATTERN = "InvalidPattern"
    INVALID_VALUE = "InvalidValue"
    CLASH = "Clash"
    IMPORT_OVERRIDDEN = "ImportOverridden"
    INVALID_KEY = "InvalidKey"
    MISSING_TYPE_KEY = "MissingTypeKey"
    INVALID_TYPE_VALUE = "InvalidTypeValue"
    TOO_LARGE = "TooLarge"

    @property
    def blocking(self) -> bool:
        """Whether writing the target would lose something: then the last good one stays."""
        return self not in (KeyProblemReason.CLASH, KeyProblemReason.IMPORT_OVERRIDDEN)


@dataclass(frozen=True, slots=True)
class KeyProblem:
    """One key that needs attention; `message` can be shown to anybody who may see names."""

    key: str
    reason: KeyProblemReason
    message: str
    source_ref: str | None = None

    @property
    def blocking(self) -> bool:
        """Whether writing the target would lose something."""
        return self.reason.blocking


class Reason(StrEnum):
    """Why a condition is as it is."""

    SYNCED = "Synced"
    """The target is as planned. Nothing to do."""
    PLANNED = "Planned"
    """`mode: Plan`: nothing was written; `status.plan` says what would be."""
    SUSPENDED = "Suspended"
    """`mode: Suspended`: nothing is read or written until the mode changes."""

    SPEC_INVALID = "SpecInvalid"
    """The spec can't be read; the message names the field."""
    IDENTITY_NOT_FOUND = "IdentityNotFound"
    """The Secret of `identityRef` doesn't exist in this namespace."""
    IDENTITY_INVALID = "IdentityInvalid"
    """The identity Secret lacks a key, or has too many, or holds what is no text."""
    URL_NOT_ALLOWED = "UrlNotAllowed"
    """The identity Secret names a service that the operator may not be sent to."""
    SHARED_IDENTITY_REFUSED = "SharedIdentityRefused"
    """No identityRef, and the operator's shared identity may not be used for this source from here."""

    CREDENTIALS_REJECTED = "CredentialsRejected"
    """The service refuses the credentials, or the token was revoked."""
    PERMISSION_DENIED = "PermissionDenied"
    """The identity may not read the source."""
    SOURCE_NOT_FOUND = "SourceNotFound"
    """Project, environment or path don't exist."""
    SERVICE_UNAVAILABLE = "ServiceUnavailable"
    """The service can't be reached, or fails; it is tried again."""
    CERTIFICATE_UNTRUSTED = "CertificateUntrusted"
    """The service's certificate is not trusted; `caBundle` of the identity Secret says what is. Tried again."""
    SERVICE_THROTTLED = "ServiceThrottled"
    """The service asks to slow down; it is tried again when it said."""
    SERVICE_REFUSED = "ServiceRefused"
    """The service refuses the request for a reason of its own; the message quotes it."""

    TIMED_OUT = "TimedOut"
    """What a run waits for takes too long; the message names it, and it is tried again."""

    NO_KEYS = "NoKeys"
    """The source holds no secret, or the selection takes none of them, and there is nothing to guard."""
    TEMPLATE_FAILED = "TemplateFailed"
    """A template can't be rendered; the message names key and line."""
    RENDERER_UNAVAILABLE = "RendererUnavailable"
    """The process that renders templates can't be started; tried again."""
    TEMPLATE_NOT_FOUND = "TemplateNotFound"
    """The ConfigMap with the templates, or its key, doesn't exist."""

    TARGET_CONFLICT = "TargetConflict"
    """An object of the target's name belongs to somebody else."""
    TARGET_CONTESTED = "TargetContested"
    """Somebody else keeps changing the target; it is put right less often. The message names who, and since when."""
    TARGET_MISSING = "TargetMissing"
    """`creationPolicy: Merge` needs a target that exists."""
    TARGET_IMMUTABLE = "TargetImmutable"
    """The change needs the target to be deleted and created, and `recreate` is not set."""
    TOO_LARGE = "TooLarge"
    """The target is larger than Kubernetes takes: its values together, or names and values as they are stored."""
    TARGET_REFUSED = "TargetRefused"
    """The API server refuses the target."""
    TYPE_NOT_ALLOWED = "TypeNotAllowed"
    """The operator was not started with this type of Secret."""
    GUARDED = "Guarded"
    """More keys would vanish at once than the guard lets; released by annotation."""
    WORKLOAD_NOT_RESTARTED = "WorkloadNotRestarted"
    """The target is written, but a workload could not be restarted."""

    PUSHING = "Pushing"
    """The service pushes to the destination; its end is awaited."""
    PUSH_FAILED = "PushFailed"
    """The last push failed; the message is the service's."""
    PUSHED_TOO_OFTEN = "PushedTooOften"
    """Source or sync change so often that pushes wait; the next one takes along all that has changed."""
    CONNECTION_NOT_READY = "ConnectionNotReady"
    """The AppConnection of `connectionRef` is missing, or not ready yet."""
    UNKNOWN_DESTINATION = "UnknownDestination"
    """Nothing can be pushed to a destination of this name."""
    INVALID_DESTINATION_CONFIG = "InvalidDestinationConfig"
    """`destinationConfig` or `syncOptions` are not what the destination takes; the message names the field."""
    SOURCE_NOT_PUSHABLE = "SourceNotPushable"
    """The source selects or renames, which the service's push can't do."""
    SYNC_CONFLICT = "SyncConflict"
    """The service has a sync of this name that another made."""
    IMMUTABLE_DESTINATION = "ImmutableDestination"
    """Destination or project were changed, which the service can't do."""
    SYNC_REFUSED = "SyncRefused"
    """The service refuses the sync's definition; the message quotes it."""

    CLUSTER_ID_UNKNOWN = "ClusterIdUnknown"
    """The operator can't tell this cluster from others on the same service: it may not read namespace kube-system."""
    NAMESPACE_TERMINATING = "NamespaceTerminating"
    """The namespace is being deleted."""
    CLUSTER_UNAVAILABLE = "ClusterUnavailable"
    """The API server could not be asked or refuses for now; tried again."""
    INTERNAL_ERROR = "InternalError"
    """A fault of Keybearer; the operator's log has it under the reconcile id of the message."""


def no_keys_message(source_label: str, found: int) -> str:
    """Return the message of `NoKeys`, given how many secrets were read."""
    if not found:
        return f"{source_label} holds no secrets; create some, or correct the source; nothing is written"
    held = (
        "one secret, and source.keys doesn't take it"
        if found == 1
        else f"{found} secrets, and source.keys takes none"
    )
    return f"{source_label} holds {held}; correct include, exclude or items; nothing is written"


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
    Reason.WORKLOAD_NOT_RESTARTED: "Correct rolloutRestart in the spec, or let the operator patch workloads.",
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
