"""Reasons of a SecretSync's conditions: constant words, each with what it means to a person."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Reason", "no_keys_message"]


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
