"""What a SecretSync does and how it stands, in words. Pure: from what the API server shows, without any value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue, ValidationError

from keybearer.controllers.custom_resource import Condition, ConditionStatus, describe_invalid
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.resource import Mode, SecretSyncSpec
from keybearer.controllers.secretsync.spec_destination import DestinationDeletionPolicy
from keybearer.controllers.secretsync.spec_source import Source
from keybearer.controllers.secretsync.spec_target import CreationPolicy, DeletionPolicy
from keybearer.controllers.secretsync.status import KeyState, SecretSyncStatus

__all__ = ["NEXT_STEPS", "Explanation", "SeenObject", "explain"]

_NAMED = 10
"""Names that a sentence spells out."""


@dataclass(frozen=True, slots=True)
class SeenObject:
    """An object beside the SecretSync: the names of its keys, never what they hold."""

    keys: tuple[str, ...]
    owner_uid: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Sentences by subject; `wrong` is empty where all is well."""

    reads: list[str]
    writes: list[str]
    stands: list[str]
    wrong: list[str]
    next_steps: list[str]


NEXT_STEPS: Mapping[Reason, str] = {
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
    Reason.TARGET_MISSING: "Create the target, or set creationPolicy: Owner.",
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
    Reason.NAMESPACE_TERMINATING: "Nothing: the namespace is on its way out.",
    Reason.CLUSTER_UNAVAILABLE: "Nothing: it is tried again.",
    Reason.INTERNAL_ERROR: "Look for the reconcile id of the message in the operator's log, and report it.",
}
"""What a person does about each reason; braces are filled in."""


def explain(
    body: Mapping[str, JsonValue], target: SeenObject | None, identity: SeenObject | None
) -> Explanation:
    """Return what the SecretSync reads and writes, how it stands, what is wrong and what to do next.

    Args:
        body: the SecretSync as the API server shows it.
        target: what it writes, if that exists.
        identity: the Secret of `identityRef`, if that exists.
    """
    try:
        spec = SecretSyncSpec.model_validate(body.get("spec") or {})
    except ValidationError as error:
        wrong = [f"The spec can't be read: {describe_invalid(error)}."]
        return Explanation([], [], [], wrong, [NEXT_STEPS[Reason.SPEC_INVALID]])
    status = _status(body)
    return _Story(body, spec, status, target, identity).whole()


def _status(body: Mapping[str, JsonValue]) -> SecretSyncStatus:
    try:
        return SecretSyncStatus.model_validate(body.get("status") or {})
    except ValidationError:
        return SecretSyncStatus()  # written by another version; what it says is left out


@dataclass(frozen=True, slots=True)
class _Story:
    body: Mapping[str, JsonValue]
    spec: SecretSyncSpec
    status: SecretSyncStatus
    target: SeenObject | None
    identity: SeenObject | None

    def whole(self) -> Explanation:
        return Explanation(
            reads=list(self._reads()),
            writes=list(self._writes()),
            stands=list(self._stands()),
            wrong=list(self._wrong()),
            next_steps=list(dict.fromkeys(self._next_steps())),
        )

    @property
    def _metadata(self) -> Mapping[str, JsonValue]:
        found = self.body.get("metadata")
        return found if isinstance(found, Mapping) else {}

    @property
    def _name(self) -> str:
        return str(self._metadata.get("name"))

    @property
    def _namespace(self) -> str:
        return str(self._metadata.get("namespace"))

    @property
    def _ready(self) -> Condition | None:
        return self._condition("Ready")

    def _condition(self, kind: str) -> Condition | None:
        return next((one for one in self.status.conditions if one.type == kind), None)

    @property
    def _is_stale(self) -> bool:
        generation = self._metadata.get("generation")
        seen = self.status.observed_generation
        return isinstance(generation, int) and seen is not None and seen < generation

    def _reads(self) -> Iterator[str]:
        for source in self.spec.all_sources:
            yield _told_source(source)
        if len(self.spec.all_sources) > 1:
            yield "Where two of these have the same key, the later wins."
        if self.spec.identity_ref is not None:
            yield f"It reads as the machine identity in Secret {self.spec.identity_ref.name}."
        else:
            yield "It reads as the operator's shared identity, where that is granted to this namespace."
        seconds = int(self.spec.refresh_interval.total_seconds())
        yield f"The source is compared every {seconds} s." if seconds else "It is read when told of a change."

    def _writes(self) -> Iterator[str]:
        if self.spec.writes_target:
            yield from self._writes_target()
        if self.spec.destination is not None:
            yield from self._pushes(self.spec.destination)

    def _pushes(self, destination: str) -> Iterator[str]:
        ref = self.spec.connection_ref
        through = (
            ""
            if ref is None
            else f" through {f'AppConnection {ref.name}' if ref.name else f'connection {ref.id}'}"
        )
        yield f"The service pushes the folder to {destination}{through}."
        if not self.spec.is_auto_sync_enabled:
            yield "It does so on request only."
        if self.spec.destination_deletion_policy is DestinationDeletionPolicy.REMOVE_SECRETS:
            yield "What was pushed is removed when the SecretSync is deleted."

    def _writes_target(self) -> Iterator[str]:
        target = self.spec.target
        named = f"{target.kind.value} {self._namespace}/{self.spec.target_name(self._name)}"
        if self.spec.mode is Mode.PLAN:
            yield f"Nothing: mode is Plan. Approved, it would write {named}."
        elif self.spec.mode is Mode.SUSPENDED:
            yield f"Nothing: mode is Suspended. Otherwise it would write {named}."
        elif self.spec.mode is Mode.CREATE_ONCE:
            yield f"{named}, once; afterwards it is left alone."
        elif target.creation_policy is CreationPolicy.MERGE:
            yield f"{named}: it adds keys to what belongs to somebody else, and touches no others."
        else:
            yield f"{named}, which it owns and keeps exactly so."
        if target.template is not None:
            yield "Keys are built from templates."
        if target.on_delete is DeletionPolicy.RETAIN:
            yield "What was written stays when the SecretSync is deleted."
        yield from (
            f"{one.kind.value} {one.name} is restarted after a change." for one in target.rollout_restart
        )
        if self.target is None:
            yield "It doesn't exist yet."
        else:
            yield f"It exists, with {_several(len(self.target.keys), 'key')}: {_names(self.target.keys)}."

    def _stands(self) -> Iterator[str]:
        ready = self._ready
        if ready is not None:
            word = "Ready" if ready.status is ConditionStatus.TRUE else "Not ready"
            since = ready.last_transition_time.isoformat()
            yield f"{word} since {since} ({ready.reason}): {ready.message or 'no message'}"
        if self.status.last_refresh_time is not None:
            yield f"The source was read last at {self.status.last_refresh_time.isoformat()} or later."
        if self.status.updates is not None:
            yield f"Changes become known by {self.status.updates.value.lower()}."
        sync = self.status.sync
        if sync is not None:
            since = (
                ""
                if sync.last_synced_at is None
                else f"; the last push succeeded at {sync.last_synced_at.isoformat()}"
            )
            yield f"The sync in the service ({sync.id}) is {sync.sync_status or 'not run yet'}{since}."
        plan = self.status.plan
        if plan is not None:
            for word, names in (("add", plan.add), ("change", plan.change), ("remove", plan.remove)):
                if names:
                    yield f"Held back: {word} {_names(names)}."

    def _wrong(self) -> Iterator[str]:
        if "deletionTimestamp" in self._metadata:
            yield "It is being deleted, and waits for its cleaning up."
        ready = self._ready
        if ready is None:
            yield "No operator has looked at it yet."
        elif self._is_stale:
            yield "The operator hasn't seen the last edit of the spec yet; what follows is about the one before."
        if ready is not None and ready.status is not ConditionStatus.TRUE:
            yield f"{ready.reason}: {ready.message}"
        for key in self.status.keys:
            if key.state is not KeyState.SYNCED:
                why = key.message or key.reason or "no reason given"
                yield f"Key {key.key} is {key.state.value.lower()}: {why}"
        if self.spec.identity_ref is not None and self.identity is None:
            yield f"There is no Secret {self.spec.identity_ref.name} in namespace {self._namespace}."
        yield from self._wrong_target()

    def _wrong_target(self) -> Iterator[str]:
        if not self.spec.writes_target:
            return
        owner = None if self.target is None else self.target.owner_uid
        if self.spec.target.creation_policy is CreationPolicy.OWNER and owner not in (
            None,
            self._metadata.get("uid"),
        ):
            yield "The target belongs to another SecretSync."
        if self.target is None or self.status.target is None:
            return
        written = {key.key for key in self.status.keys if key.state is KeyState.SYNCED}
        missing = sorted(written - set(self.target.keys))
        if missing and not self.spec.target.template:
            yield f"The target lacks keys that were written: {_names(missing)}."

    def _next_steps(self) -> Iterator[str]:
        ready = self._ready
        if ready is None:
            yield (
                "Check that the operator runs and serves this namespace: "
                "kubectl get pods -A -l app.kubernetes.io/name=keybearer"
            )
        elif self._is_stale:
            yield "Wait a moment and explain again; if it stays so, look at the operator's log."
        if ready is not None and ready.status is not ConditionStatus.TRUE and ready.reason in set(Reason):
            yield self._filled(NEXT_STEPS[Reason(ready.reason)])
        if self.spec.identity_ref is not None and self.identity is None:
            yield self._filled(NEXT_STEPS[Reason.IDENTITY_NOT_FOUND])

    def _filled(self, step: str) -> str:
        identity = self.spec.identity_ref.name if self.spec.identity_ref is not None else "(none is named)"
        ref = self.spec.connection_ref
        connection = ref.name if ref is not None and ref.name else "(none is named)"
        filled = step.replace("{identity}", identity).replace("{namespace}", self._namespace)
        filled = filled.replace("{connection}", connection)
        for kind in ("approve-plan", "release-guard", "sync"):
            filled = filled.replace(f"{{{kind}}}", self._annotate(kind))
        return filled

    def _annotate(self, kind: str) -> str:
        return (
            f"kubectl -n {self._namespace} annotate --overwrite secretsync {self._name} "
            f'keybearer.dev/request={kind} keybearer.dev/requestedAt="$(date +%s)"'
        )


def _told_source(source: Source) -> str:
    project = source.project_slug or source.project_id
    parts = [f"Project {project}, environment {source.environment}, folder {source.secret_path}"]
    if source.recursive:
        parts.append("and all folders below")
    if not source.include_imports:
        parts.append("without imports")
    if source.tag_slugs:
        parts.append(f"only with the tags {_names(source.tag_slugs)}")
    keys = source.keys
    if keys.include != ("*",):
        parts.append(f"names like {_names(keys.include) if keys.include else 'none'}")
    if keys.exclude:
        parts.append(f"but {_names(keys.exclude)}")
    if keys.items:
        parts.append(f"and {_names(item.key for item in keys.items)} in another form")
    return ", ".join(parts) + "."


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    more = len(listed) - _NAMED
    return ", ".join(listed[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _several(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
