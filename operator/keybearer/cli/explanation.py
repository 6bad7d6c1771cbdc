"""What a SecretSync does and how it stands, in words. Pure: from what the API server shows, without any value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.cli.explanation_parts import (
    Explanation,
    SeenObject,
    Standing,
    Story,
    correct_workloads,
    explained,
    missing_workloads,
    names,
    restarts_told,
    several,
)
from keybearer.controllers.mode import Mode
from keybearer.controllers.secretsync.reasons import KEY_REMEDIES, KeyProblemReason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec import DestinationDeletionPolicy, KeySelection, Source
from keybearer.controllers.secretsync.status import KeyState, PollingReason, SecretSyncStatus
from keybearer.controllers.target.spec import CreationPolicy, DeletionPolicy
from keybearer.controllers.target.status import WorkloadStatus

__all__ = ["explain"]


_WHY_POLLING: Mapping[PollingReason, str] = {
    PollingReason.DENIED: "The service denies events of the source to the identity.",
    PollingReason.UNAVAILABLE: "The service has no events for the identity.",
    PollingReason.CROWDED: "The identity, or the operator, has as many streams of events as it may.",
    PollingReason.FAILED: "A stream of events can't be opened; the operator tries again.",
}


def explain(
    body: Mapping[str, JsonValue], target: SeenObject | None, identity: SeenObject | None
) -> Explanation:
    """Return what the SecretSync reads and writes, how it stands, what is wrong and what to do next.

    Args:
        body: the SecretSync as the API server shows it.
        target: what it writes, if that exists.
        identity: the Secret of `identityRef`, if that exists.
    """

    def tell(spec: SecretSyncSpec, status: SecretSyncStatus) -> Story:
        standing = Standing("secretsync", body, status.conditions, status)
        return _Story(standing, spec, status, target, identity)

    return explained(body, tell, spec=SecretSyncSpec, status=SecretSyncStatus)


@dataclass(frozen=True, slots=True)
class _Story(Story):
    spec: SecretSyncSpec
    status: SecretSyncStatus
    target: SeenObject | None
    identity: SeenObject | None

    @property
    def _name(self) -> str:
        return self.standing.name

    @property
    def _namespace(self) -> str:
        return self.standing.namespace

    @property
    def _workloads(self) -> tuple[WorkloadStatus, ...]:
        return self.status.workloads if self.spec.writes_target else ()

    @property
    def _belongs_to_another(self) -> bool:
        owner = None if self.target is None else self.target.owner_uid
        is_own = owner in (None, self.standing.metadata.get("uid"))
        return self.spec.target.creation_policy is CreationPolicy.OWNER and not is_own

    def reads(self) -> Iterator[str]:
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

    def writes(self) -> Iterator[str]:
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

    def _how_it_writes(self) -> str:
        named = f"{self.spec.target.kind.value} {self._namespace}/{self.spec.target_name(self._name)}"
        if self.spec.mode is Mode.PLAN:
            return f"Nothing: mode is Plan. Approved, it would write {named}."
        if self.spec.mode is Mode.SUSPENDED:
            return f"Nothing: mode is Suspended. Otherwise it would write {named}."
        if self.spec.mode is Mode.CREATE_ONCE:
            return f"{named}, once; afterwards it is left alone."
        if self.spec.target.creation_policy is CreationPolicy.MERGE:
            return f"{named}: it adds keys to what belongs to somebody else, and touches no others."
        if self._belongs_to_another:
            return f"{named}, once that is its own."
        return f"{named}, which it owns and keeps exactly so."

    def _what_a_deletion_does(self) -> str:
        target = self.spec.target
        if target.on_delete is DeletionPolicy.RETAIN:
            return "What was written stays when the SecretSync is deleted."
        if target.creation_policy is CreationPolicy.MERGE:
            return "The keys that it added are removed when the SecretSync is deleted."
        once = "" if self.status.target is not None else "once written, "
        told = f"{once}the {target.kind.value} is deleted with the SecretSync, unless onDelete is Retain."
        return f"{told[0].upper()}{told[1:]}"

    def _writes_target(self) -> Iterator[str]:
        target = self.spec.target
        yield self._how_it_writes()
        if target.template is not None:
            yield "Keys are built from templates."
        yield self._what_a_deletion_does()
        yield from (
            f"{one.kind.value} {one.name} is restarted after a change." for one in target.rollout_restart
        )
        if target.refresh_mounts:
            yield "Running pods that mount it show a change at once."
        if self.target is None:
            yield "It doesn't exist yet."
        elif self.target.is_hidden:
            yield "You may not look at it."
        else:
            yield f"It exists, with {several(len(self.target.keys), 'key')}: {names(self.target.keys)}."

    def stands(self) -> Iterator[str]:
        yield from self.standing.stands()
        if self.status.last_refresh_time is not None:
            yield f"The source was read last at {self.status.last_refresh_time.isoformat()} or later."
        if self.status.updates is not None:
            yield f"Changes become known by {self.status.updates.value.lower()}.{self._why_polling()}"
        yield from restarts_told(self._workloads)
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
            for word, held in (("add", plan.add), ("change", plan.change), ("remove", plan.remove)):
                if held:
                    yield f"Held back: {word} {names(held)}."
        push = self.status.push
        if push is not None and push.foreign_total:
            several_names = several(push.foreign_total, "name")
            yield f"The destination holds {several_names} of others, which stay: {names(push.foreign or ())}."
            if push.keys == 0:
                yield f"The source is empty. To import these into it: {self.standing.how_to_ask('import')}"
            elif push.keys:
                yield f"To have these removed once: {self.standing.how_to_ask('remove-foreign')}"

    def _why_polling(self) -> str:
        why = self.status.polling_reason
        if why is None:
            return ""
        seconds = int(self.spec.refresh_interval.total_seconds())
        late = f"A change shows within {seconds} s." if seconds else "A change shows on request only."
        return f" {_WHY_POLLING[why]} {late}"

    def wrong(self) -> Iterator[str]:
        yield from self.standing.wrong()
        for key in self.status.keys:
            # A pending one is held back by what Ready tells: a plan, the guard, or what keeps all from being written.
            if key.state not in (KeyState.SYNCED, KeyState.PENDING):
                why = key.message or key.reason or "no reason given"
                yield f"Key {key.key} is {key.state.value.lower()}: {why}"
        push = self.status.push
        for one in () if push is None else push.failed or ():
            yield f"Name {one.name} at the destination failed: {one.message or 'no reason given'}"
        unlisted = 0 if push is None else (push.failed_total or 0) - len(push.failed or ())
        if unlisted > 0:
            yield f"And {unlisted} more names failed."
        if self.spec.identity_ref is not None and self.identity is None:
            yield f"There is no Secret {self.spec.identity_ref.name} in namespace {self._namespace}."
        yield from missing_workloads(self._workloads)
        yield from self._wrong_target()

    def _wrong_target(self) -> Iterator[str]:
        if not self.spec.writes_target or (self.target is not None and self.target.is_hidden):
            return
        if self._belongs_to_another:
            yield "The target belongs to another object."
        if self.target is None or self.status.target is None:
            return
        written = {key.key for key in self.status.keys if key.state is KeyState.SYNCED}
        missing = sorted(written - set(self.target.keys))
        if missing and not self.spec.target.template:
            yield f"The target lacks keys that were written: {names(missing)}."

    def next_steps(self) -> Iterator[str]:
        yield from self.standing.next_steps()
        failed = {key.reason for key in self.status.keys if key.state is KeyState.FAILED}
        # The first of them is what the operator has diagnosed, perhaps with a command.
        told = None if self.status.diagnosis is None else self.status.diagnosis.step
        steps = (KEY_REMEDIES[problem][1] for problem in KeyProblemReason if problem in failed)
        yield from (step for step in steps if step != told)
        # A missing identity of an object that isn't Ready is what the operator has diagnosed.
        if self.spec.identity_ref is not None and self.identity is None and self.standing.is_ready:
            yield f"Create the Secret {self.spec.identity_ref.name} with clientId and clientSecret of an identity."
        yield from correct_workloads(self._workloads, "spec.target.rolloutRestart")


def _told_source(source: Source) -> str:
    project = source.project_slug or source.project_id
    parts = [f"Project {project}, environment {source.environment}, folder {source.secret_path}"]
    if source.recursive:
        parts.append("and all folders below")
    if not source.include_imports:
        parts.append("without imports")
    if source.tag_slugs:
        parts.append(f"only with the tags {names(source.tag_slugs)}")
    return ", ".join([*parts, *_told_keys(source.keys)]) + "."


def _told_keys(keys: KeySelection) -> Iterator[str]:
    single = names(dict.fromkeys(item.key for item in keys.items))
    if not keys.include:
        yield f"only what is named: {single}" if single else "but none of its secrets"
        return
    if keys.include != ("*",):
        yield f"names like {names(keys.include)}"
    if keys.exclude:
        yield f"but {names(keys.exclude)}"
    if single:
        yield f"and {single} in another form"
