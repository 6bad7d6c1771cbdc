"""Reasons of a SecretSync's conditions and of its keys, and what a person does about each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from keybearer.controllers.annotations import IMPORT_BEHAVIOR
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.remedy import SHARED_REMEDIES, Remedy

__all__ = [
    "BLOCKED_REMEDIES",
    "KEY_REMEDIES",
    "REMEDIES",
    "KeyProblem",
    "KeyProblemReason",
    "Reason",
    "no_keys_message",
]


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
    """One key that needs attention; `message` can be shown to anybody who may see names.

    Attributes:
        command: shows the source that it is about; empty for the first source of the spec.
    """

    key: str
    reason: KeyProblemReason
    message: str
    source_ref: str | None = None
    command: str = ""

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
    """The identity Secret lacks a key, has keys of several logins, or has a value that isn't text."""
    URL_NOT_ALLOWED = "UrlNotAllowed"
    """The identity Secret names a service to which the operator may not send credentials."""
    SHARED_IDENTITY_REFUSED = "SharedIdentityRefused"
    """There is no identityRef, and this namespace may not use the operator's shared identity for this source."""

    CREDENTIALS_REJECTED = "CredentialsRejected"
    """The service refuses the credentials, or the token was revoked."""
    PERMISSION_DENIED = "PermissionDenied"
    """The identity may not read the source."""
    SOURCE_NOT_FOUND = "SourceNotFound"
    """The project, the environment or the path doesn't exist."""
    SERVICE_UNAVAILABLE = "ServiceUnavailable"
    """The operator can't reach the service, or the service fails. The operator tries again."""
    CERTIFICATE_UNTRUSTED = "CertificateUntrusted"
    """The operator doesn't trust the service's certificate, by `caBundle` of the identity Secret. It tries again."""
    SERVICE_THROTTLED = "ServiceThrottled"
    """The service asks the operator to slow down. The operator tries again when the service allows it."""
    SERVICE_REFUSED = "ServiceRefused"
    """The service refuses the request for a reason of its own; the message quotes it."""

    TIMED_OUT = "TimedOut"
    """Something that a run waits for takes too long. The message names it, and the operator tries again."""

    NO_KEYS = "NoKeys"
    """The source has no secrets, or the selection takes none of them. There is no target to guard yet."""
    TEMPLATE_FAILED = "TemplateFailed"
    """A template can't be rendered; the message names key and line."""
    RENDERER_UNAVAILABLE = "RendererUnavailable"
    """The process that renders templates can't be started. The operator tries again."""
    TEMPLATE_NOT_FOUND = "TemplateNotFound"
    """The ConfigMap with the templates, or its key, doesn't exist."""

    TARGET_CONFLICT = "TargetConflict"
    """An object with the target's name has another owner, or is an identity Secret."""
    TARGET_CONTESTED = "TargetContested"
    """Somebody else keeps changing the target, so it is repaired less often. The message names who."""
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
    """A change would remove more keys at once than the guard allows. An annotation releases it."""
    WORKLOAD_NOT_RESTARTED = "WorkloadNotRestarted"
    """The target is written, but the API server refused to have a workload restarted."""

    PUSHING = "Pushing"
    """The service pushes to the destination, and the operator waits for the end."""
    PUSH_FAILED = "PushFailed"
    """The last push failed; the message is the service's."""
    IMPORTING = "Importing"
    """The service imports from the destination. Nothing is pushed before the import has ended."""
    IMPORT_FAILED = "ImportFailed"
    """The import that comes before the first push failed; the message is the service's. Nothing is pushed."""
    IMPORT_BEHAVIOR_UNKNOWN = "ImportBehaviorUnknown"
    """The `import-behavior` of an import is unknown. Nothing is imported or pushed; the message has the choices."""
    PUSHED_TOO_OFTEN = "PushedTooOften"
    """The source or the sync changes so often that pushes wait. The next push includes all changes."""
    CONNECTION_NOT_READY = "ConnectionNotReady"
    """The AppConnection of `connectionRef` is missing, or not ready yet."""
    UNKNOWN_DESTINATION = "UnknownDestination"
    """There is no destination with this name."""
    INVALID_DESTINATION_CONFIG = "InvalidDestinationConfig"
    """`destinationConfig` or `syncOptions` are not what the destination takes; the message names the field."""
    SOURCE_NOT_PUSHABLE = "SourceNotPushable"
    """The source selects or renames secrets. A push can't do that."""
    SYNC_CONFLICT = "SyncConflict"
    """The service has a sync with this name that somebody else made."""
    IMMUTABLE_DESTINATION = "ImmutableDestination"
    """The destination or the project was changed. The service can't do that."""
    SYNC_REFUSED = "SyncRefused"
    """The service refuses the sync's definition; the message quotes it."""

    CLUSTER_ID_UNKNOWN = "ClusterIdUnknown"
    """The operator can't identify this cluster at the service, because it may not read namespace kube-system."""
    NAMESPACE_TERMINATING = "NamespaceTerminating"
    """The namespace is being deleted."""
    CLUSTER_UNAVAILABLE = "ClusterUnavailable"
    """The operator can't reach the API server, or the API server refuses for now. The operator tries again."""
    INTERNAL_ERROR = "InternalError"
    """A bug of Keybearer. The message has a reconcile id, under which the operator's log has the details."""


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


_LIST_SECRETS = "keybearer secrets list --project {project} --env {environment} --path {path}"

REMEDIES: Mapping[str, Remedy] = {
    **SHARED_REMEDIES,
    Reason.SYNCED: Remedy("", turn=Turn.NOBODY),
    Reason.PLANNED: Remedy(
        "Look at status.plan, then approve it, or set spec.mode to Apply.",
        "{approve-plan}",
        about="spec.mode",
    ),
    Reason.SOURCE_NOT_FOUND: Remedy(
        "Correct project, environment or secretPath of spec.source.",
        "keybearer folders list --project {project} --env {environment} --recursive",
        about="spec.source",
    ),
    Reason.NO_KEYS: Remedy(
        "Put secrets into the source, or widen source.keys.", _LIST_SECRETS, about="spec.source"
    ),
    Reason.TEMPLATE_FAILED: Remedy(
        "Correct the template at the line that the message names.", about="spec.target.template"
    ),
    Reason.RENDERER_UNAVAILABLE: Remedy(
        "Nothing: the operator tries again. If it stays so, raise the operator's memory limit.",
        turn=Turn.NOBODY,
    ),
    Reason.TEMPLATE_NOT_FOUND: Remedy(
        "Create the ConfigMap with the templates, or correct its name and key.",
        about="spec.target.template.configMapRef",
    ),
    Reason.TARGET_CONFLICT: Remedy(
        "Choose another target.name, or free the target from its owner as the message says. Don't delete the owner "
        "before.",
        about="spec.target.name",
    ),
    Reason.TARGET_CONTESTED: Remedy(
        "Stop the program that the message names, or remove the field from the spec."
    ),
    Reason.PUSHED_TOO_OFTEN: Remedy("Find out what changes the source, or the sync in the service."),
    Reason.TARGET_MISSING: Remedy(
        "Create the target, or set creationPolicy to Owner.", about="spec.target.creationPolicy"
    ),
    Reason.TOO_LARGE: Remedy(
        "Exclude keys, shorten their names, or spread them over several objects.", about="spec.source.keys"
    ),
    Reason.TARGET_IMMUTABLE: Remedy(
        "Set target.recreate if it may be deleted and created again.", about="spec.target.recreate"
    ),
    Reason.TYPE_NOT_ALLOWED: Remedy(
        "Choose another target.type, or have the operator started with --allow-target-type.",
        about="spec.target.type",
    ),
    Reason.GUARDED: Remedy(
        "If these keys are meant to be removed, release the change once.", "{release-guard}"
    ),
    Reason.WORKLOAD_NOT_RESTARTED: Remedy(
        "Correct target.rolloutRestart, or let the operator patch workloads.",
        about="spec.target.rolloutRestart",
    ),
    Reason.PUSHING: Remedy("Nothing: the service pushes.", turn=Turn.NOBODY),
    Reason.IMPORTING: Remedy("Nothing: the service imports.", turn=Turn.NOBODY),
    Reason.IMPORT_FAILED: Remedy(
        "Correct what the message names, then ask for the import again.",
        "{import}",
        about="spec.destinationConfig",
    ),
    Reason.IMPORT_BEHAVIOR_UNKNOWN: Remedy(
        "Choose whose value stays where both sides have a key, and ask for the import again.",
        f"{{import}} {IMPORT_BEHAVIOR}=prioritize-source",
        about=f"annotation {IMPORT_BEHAVIOR}",
    ),
    Reason.PUSH_FAILED: Remedy("Correct what the message names, then push again.", "{sync}"),
    Reason.CONNECTION_NOT_READY: Remedy(
        "Look at the AppConnection, and correct it.",
        "kubectl -n {namespace} get appconnections",
        about="spec.connectionRef",
    ),
    Reason.UNKNOWN_DESTINATION: Remedy(
        "Correct spec.destination.", "keybearer syncs options", about="spec.destination"
    ),
    Reason.INVALID_DESTINATION_CONFIG: Remedy(
        "Correct the field that the message names.", about="spec.destinationConfig"
    ),
    Reason.SOURCE_NOT_PUSHABLE: Remedy(
        "Remove what the message names from spec.source, or write a target instead.", about="spec.source"
    ),
    Reason.SYNC_CONFLICT: Remedy(
        "Set spec.syncName to a name that is free.",
        "keybearer syncs list --project {project}",
        about="spec.syncName",
    ),
    Reason.IMMUTABLE_DESTINATION: Remedy(
        "Create another SecretSync for the other destination, and delete this one.", about="spec.destination"
    ),
    Reason.SYNC_REFUSED: Remedy("Change what the message quotes.", about="spec.destinationConfig"),
}
"""What is to be done about each reason."""

KEY_REMEDIES: Mapping[KeyProblemReason, tuple[str, str]] = {
    KeyProblemReason.VALUE_HIDDEN: (
        "The identity may list the secret, but not read its value.",
        "Grant it the action read-value there, or exclude the key in source.keys.",
    ),
    KeyProblemReason.KEY_NOT_FOUND: (
        "An item of source.keys.items names a secret or a version that the source doesn't have.",
        "Create the secret, or correct the item.",
    ),
    KeyProblemReason.INVALID_PATTERN: (
        "A pattern can't be read, or the patterns are too large for so many secrets.",
        "Correct the pattern that the message names, or use fewer, simpler ones over narrower sources.",
    ),
    KeyProblemReason.INVALID_VALUE: (
        "A value isn't JSON with that property, or isn't Base64, as its item says.",
        "Correct the value in the service, or property and decode of the item.",
    ),
    KeyProblemReason.CLASH: (
        "Two secrets get the same key. The message names the one that is written.",
        "Rename one of them in source.keys, if both are wanted.",
    ),
    KeyProblemReason.IMPORT_OVERRIDDEN: (
        "An imported secret has the same name as another secret. The other secret wins.",
        "Nothing, if you want this. Otherwise rename one of them in the service.",
    ),
    KeyProblemReason.INVALID_KEY: (
        "The name can't be a key: 1 to 253 letters, digits, dots, hyphens and underscores, not beginning with `..`.",
        "Rename or exclude it in source.keys.",
    ),
    KeyProblemReason.MISSING_TYPE_KEY: (
        "The target's type needs a key that is missing.",
        "Make the key with keys.items, keys.rename or a template, or choose another target.type.",
    ),
    KeyProblemReason.INVALID_TYPE_VALUE: (
        "The target's type needs another form of this key's value.",
        "Correct the value in the service, or build it with a template.",
    ),
    KeyProblemReason.TOO_LARGE: (
        "The values are larger together than Kubernetes takes, or the JSON that items take properties of is.",
        "Exclude keys, or spread them over several objects.",
    ),
}
"""What each reason of `status.keys[]` means, and what a person does about it."""

BLOCKED_REMEDIES: Mapping[str, Remedy] = {
    **{reason: Remedy(step, about="spec.source.keys") for reason, (_, step) in KEY_REMEDIES.items()},
    KeyProblemReason.KEY_NOT_FOUND: Remedy(
        KEY_REMEDIES[KeyProblemReason.KEY_NOT_FOUND][1], _LIST_SECRETS, about="spec.source.keys"
    ),
    KeyProblemReason.VALUE_HIDDEN: Remedy(
        KEY_REMEDIES[KeyProblemReason.VALUE_HIDDEN][1],
        "keybearer members set CLIENT_ID_OR_NAME --project {project} --role viewer",
        turn=Turn.SERVICE_ADMINISTRATOR,
        about="spec.source.keys",
    ),
}
"""A key that keeps the target from being written is the reason of Ready, too."""
