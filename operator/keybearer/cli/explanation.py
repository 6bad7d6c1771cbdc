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
    explained,
    names,
    several,
)
from keybearer.controllers.mode import Mode
from keybearer.controllers.secretsync.reasons import KEY_REMEDIES, REMEDIES, KeyProblemReason, Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec import DestinationDeletionPolicy, KeySelection, Source
from keybearer.controllers.secretsync.status import KeyState, SecretSyncStatus
from keybearer.controllers.target.spec import CreationPolicy, DeletionPolicy

__all__ = ["explain"]

_REMEDIES: Mapping[str, str] = {
    **{str(reason): step for reason, step in REMEDIES.items()},
    **{str(problem): step for problem, (_, step) in KEY_REMEDIES.items()},
}
"""By each reason that Ready can have: that of a key which keeps the target from being written is one, too."""


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

    return explained(
        body, tell, spec=SecretSyncSpec, status=SecretSyncStatus, remedy=REMEDIES[Reason.SPEC_INVALID]
    )


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
            for word, held in (("add", plan.add), ("change", plan.change), ("remove", plan.remove)):
                if held:
                    yield f"Held back: {word} {names(held)}."
        push = self.status.push
        if push is not None and push.foreign_total:
            several_names = several(push.foreign_total, "name")
            yield f"The destination holds {several_names} of others, which stay: {names(push.foreign or ())}."
            yield self._filled("To have these removed once: {remove-foreign}")

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
            yield f"And {unlisted} names more failed."
        if self.spec.identity_ref is not None and self.identity is None:
            yield f"There is no Secret {self.spec.identity_ref.name} in namespace {self._namespace}."
        yield from self._wrong_target()

    def _wrong_target(self) -> Iterator[str]:
        if not self.spec.writes_target or (self.target is not None and self.target.is_hidden):
            return
        owner = None if self.target is None else self.target.owner_uid
        if self.spec.target.creation_policy is CreationPolicy.OWNER and owner not in (
            None,
            self.standing.metadata.get("uid"),
        ):
            yield "The target belongs to another SecretSync."
        if self.target is None or self.status.target is None:
            return
        written = {key.key for key in self.status.keys if key.state is KeyState.SYNCED}
        missing = sorted(written - set(self.target.keys))
        if missing and not self.spec.target.template:
            yield f"The target lacks keys that were written: {names(missing)}."

    def next_steps(self) -> Iterator[str]:
        yield from map(self._filled, self.standing.next_steps(_REMEDIES))
        failed = {key.reason for key in self.status.keys if key.state is KeyState.FAILED}
        yield from (KEY_REMEDIES[problem][1] for problem in KeyProblemReason if problem in failed)
        if self.spec.identity_ref is not None and self.identity is None:
            yield self._filled(REMEDIES[Reason.IDENTITY_NOT_FOUND])

    def _filled(self, step: str) -> str:
        ref, identity = self.spec.connection_ref, self.spec.identity_ref
        return self.standing.filled(
            step,
            identity=None if identity is None else identity.name,
            connection=None if ref is None else ref.name,
        )


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
