"""Carries out what was planned for a target: each action is one request, or two where Kubernetes leaves no choice."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import assert_never

from pydantic import JsonValue

from keybearer.base.clock import format_instant
from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.effect_budget import REPAIRS, EffectBudgets
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.observed_targets import ObservedStore, ObservedTarget
from keybearer.controllers.outcome import WaitingError
from keybearer.controllers.target.changes import KeyChanges
from keybearer.controllers.target.decisions import (
    ApplyTarget,
    CreateTarget,
    MergeTarget,
    RecreateTarget,
    ReplaceTarget,
    TargetAction,
)
from keybearer.controllers.target.desired import MANAGED_LABEL, OWNER_LABEL, TARGET_RESOURCES, DesiredTarget
from keybearer.controllers.target.observed import PresentTarget, merge_manager, observe_target
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.recreation import Recreation
from keybearer.controllers.target.spec import WriteRules
from keybearer.kube.errors import ConflictError, KubeError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import JsonObject, ObjectKey

__all__ = ["TargetWriter"]

_WRITTEN_MAX = 50_000
"""Targets of which is kept what was written to them last."""


class TargetWriter:
    """Reads and writes targets through the gateway, and keeps what was seen of them in step.

    Attributes:
        on_changed: told of each target whose pods are to show a change at once: what was written, which keys
            changed, and the UID of its owner.
    """

    def __init__(
        self,
        gateway: Gateway,
        observed: ObservedStore,
        fingerprinter: Fingerprinter,
        recreation: Recreation,
        budgets: EffectBudgets,
    ) -> None:
        self._gateway = gateway
        self._budgets = budgets
        self._recreation = recreation
        self._observed = observed
        self._fingerprinter = fingerprinter
        self._written: OrderedDict[str, str] = OrderedDict()
        self.on_changed: Callable[[DesiredTarget, KeyChanges, str], None] = lambda *_: None

    async def look(
        self, key: TargetKey, owner_uid: str, *, expected: str | None, thorough: bool
    ) -> PresentTarget | None:
        """Return the target as it is, or None.

        Args:
            key: which object.
            owner_uid: of the custom resource that asks.
            expected: a fingerprint; where the watch shows just that, the target isn't read.
            thorough: read it from the API server, whatever the watch showed.
        """
        seen = None if thorough else self._observed.get(key)
        kept = self._observed.take_body(key)
        if seen is not None and seen.fingerprint == expected:
            return _present(seen, {}, owner_uid)
        if seen is not None and kept is not None and _version(kept) == seen.resource_version:
            return _present(seen, kept, owner_uid)
        body = await self._gateway.get(TARGET_RESOURCES[key.kind], ObjectKey(key.namespace, key.name))
        if body is None:
            self._observed.drop(key)
            return None
        now = observe_target(key.kind, body, self._fingerprinter)
        return _present(now, body, owner_uid)

    async def names_in(self, kind: str, namespace: str, *, fewer_than: int) -> frozenset[str] | None:
        """Return the names of all Secrets or ConfigMaps of a namespace, whoever they belong to.

        Returns:
            None where there are more; the rest isn't read then.

        Raises:
            KubeError: the API server can't be asked.
        """
        listed = self._gateway.list(
            TARGET_RESOURCES[kind], namespace, metadata_only=True, page_size=fewer_than
        )
        names: set[str] = set()
        async with contextlib.aclosing(listed):
            async for body in listed:
                names.add(text_of(mapping_of(body.get("metadata")).get("name")))
                if len(names) >= fewer_than:
                    return None
        return frozenset(names)

    def fingerprint_seen(self, key: TargetKey) -> str | None:
        """Return the fingerprint of a target as the watch showed it last; None where it showed none."""
        seen = self._observed.get(key)
        return None if seen is None else seen.fingerprint

    def knows(self, key: TargetKey) -> bool:
        """Tell whether the watch showed a target of this name that carries our label."""
        return self._observed.get(key) is not None

    def take_its_end(self, key: TargetKey) -> bool:
        """Tell, once, whether the last that the watch showed of the target was its end."""
        return self._observed.take_end(key)

    def expect(self, key: TargetKey, fingerprint: str | None) -> None:
        """Say that the target is as planned, so that only a change of it triggers the next run.

        Args:
            key: which object.
            fingerprint: as it is; None where its whole is somebody else's business, so that any change of it is
                worth a look.
        """
        self._observed.expect(key, fingerprint)

    def wrote(self, desired: DesiredTarget, owner_uid: str) -> bool:
        """Tell whether just this was the last that was written for a custom resource, whatever its status says.

        Its status may be behind: where it can't be written, nothing else says that others changed the target since.
        """
        return self._written.get(_budget(owner_uid, desired.key)) == desired.fingerprint

    def tell_of_changes(
        self, desired: DesiredTarget, changes: KeyChanges, rules: WriteRules, owner_uid: str
    ) -> None:
        """Say that a target was written, where the spec asks that pods show it at once."""
        if rules.refresh_mounts:
            self.on_changed(desired, changes, owner_uid)

    def take_repair(self, present: PresentTarget | None, key: TargetKey, owner_uid: str) -> bool:
        """Count a write that makes good what others did to a target; return False if it has to wait.

        Args:
            present: what they left; None where they left nothing.
            key: which object.
            owner_uid: of the custom resource.
        """
        by = None if present is None else present.last_foreign_manager
        who = "others" if by is None else f'field manager "{by}"'
        done = "deleted" if present is None else "changed"
        why = f"{key.kind} {key.name} is {done} by {who} each time it was put right"
        return self._budgets.take(_budget(owner_uid, key), REPAIRS, why) is None

    def contested(self, owner_uid: str, keys: Iterable[TargetKey]) -> WaitingError | None:
        """Return what stands against a custom resource whose targets others keep changing; None where they don't.

        Args:
            owner_uid: of the custom resource.
            keys: its targets; of several that are contested, the one that is put right first counts.
        """
        found = [error for key in keys if (error := self._contested(_budget(owner_uid, key))) is not None]
        return min(found, key=lambda error: error.after or timedelta(), default=None)

    def _contested(self, budget: str) -> WaitingError | None:
        overrun = self._budgets.overrun(budget, REPAIRS)
        if overrun is None:
            return None
        minutes = REPAIRS.longest_pause.total_seconds() / 60
        message = (
            f"{overrun.why}, since {format_instant(overrun.since)}; it is put right less often, after {minutes:g} "
            "minutes at the latest; end that, or take the target out of the spec"
        )
        after = self._budgets.wait(budget, REPAIRS) or overrun.left
        return WaitingError(TargetReason.CONTESTED, message, after=after)

    async def carry_out(self, action: TargetAction, owner_uid: str) -> str:
        """Write, and return the UID of what was written.

        Raises:
            AlreadyExistsError, ConflictError, NotFoundError: the target is not what was planned upon; look again.
            KubeError: the API server refuses or can't be asked.
        """
        desired = action.desired
        resource = TARGET_RESOURCES[desired.key.kind]
        key = ObjectKey(desired.key.namespace, desired.key.name)
        merging = isinstance(action, MergeTarget)
        before = self._observed.get(desired.key)
        self._observed.expect(desired.key, None if merging else desired.fingerprint)
        match action:
            case CreateTarget():
                answer = await self._gateway.create(resource, key, desired.body)
            case ApplyTarget(uid=uid):
                answer = await self._gateway.apply(resource, key, desired.body, uid=uid)
            case ReplaceTarget(uid=uid, resource_version=version, patch=patch):
                answer = await self._gateway.merge_patch(
                    resource, key, patch, uid=uid, resource_version=version
                )
            case RecreateTarget(uid=uid):
                answer = await self._recreate(desired, uid, owner_uid)
            case MergeTarget(uid=uid, force=force):
                answer = await self._gateway.apply(
                    resource, key, desired.body, uid=uid, force=force, manager=merge_manager(owner_uid)
                )
            case _:
                assert_never(action)
        self._note_written(desired, owner_uid)
        # What the watch showed meanwhile is this very write, or newer: it must not be painted over.
        uid = str(mapping_of(answer.get("metadata")).get("uid", ""))
        if self._observed.get(desired.key) is before:
            self._remember(desired, answer, owner_uid, merging=merging)
        return uid

    def _note_written(self, desired: DesiredTarget, owner_uid: str) -> None:
        of = _budget(owner_uid, desired.key)
        self._written[of] = desired.fingerprint
        self._written.move_to_end(of)
        if len(self._written) > _WRITTEN_MAX:
            self._written.popitem(last=False)

    async def _recreate(self, desired: DesiredTarget, uid: str, owner_uid: str) -> JsonObject:
        key = ObjectKey(desired.key.namespace, desired.key.name)
        try:
            return await self._recreation.recreate(
                TARGET_RESOURCES[desired.key.kind], key, desired.body, uid=uid
            )
        except ConflictError:
            raise  # nothing was touched
        except KubeError:
            # What is said of the target from here on is said of what is there, be it put back.
            with contextlib.suppress(KubeError):
                there = await self.look(desired.key, owner_uid, expected=None, thorough=True)
                if there is not None and self._observed.get(desired.key) is None:
                    self._observed.put(observe_target(desired.key.kind, there.body, self._fingerprinter))
            raise

    async def take_back(self, key: TargetKey, uid: str) -> None:
        """Delete the target that `carry_out` has just created, unless another one took its place."""
        with contextlib.suppress(ConflictError):
            await self._gateway.delete(
                TARGET_RESOURCES[key.kind], ObjectKey(key.namespace, key.name), uid=uid
            )

    async def leaving(self, key: TargetKey, owner_uid: str, *, retains: bool) -> frozenset[str]:
        """Return the names of the keys that `retire` takes away.

        Args:
            key: the target.
            owner_uid: of the custom resource.
            retains: whether its spec says Retain.

        Raises:
            KubeError: the API server can't be asked.
        """
        present = None if retains else await self.look(key, owner_uid, expected=None, thorough=True)
        if present is None:
            return frozenset()
        if not present.is_controlled_by(owner_uid):
            return present.merged_keys
        return frozenset(present.data) if present.refers_to(owner_uid) else frozenset()

    async def retire(self, key: TargetKey, owner_uid: str, *, retains: bool = False) -> bool:
        """Take back what a custom resource wrote to a target it no longer names; return whether there was anything.

        An object that it owns is deleted; from an object of somebody else its keys are let go. What was written under
        `onDelete: Retain`, which an object without ownerReference was, stays and is nobody's from now on.

        Args:
            key: the target.
            owner_uid: of the custom resource.
            retains: whether its spec says Retain.

        Raises:
            KubeError: the API server refuses or can't be asked.
        """
        present = await self.look(key, owner_uid, expected=None, thorough=True)
        if present is None:
            return False
        resource, name = TARGET_RESOURCES[key.kind], ObjectKey(key.namespace, key.name)
        if present.is_controlled_by(owner_uid):
            if not retains and present.refers_to(owner_uid):
                return await self._gateway.delete(resource, name, uid=present.uid)
            unmarked: JsonObject = {"labels": {OWNER_LABEL: None, MANAGED_LABEL: None}}
            unmarked["ownerReferences"] = present.references_besides(owner_uid)
            await self._gateway.merge_patch(
                resource,
                name,
                {"metadata": unmarked},
                uid=present.uid,
                resource_version=present.resource_version,
            )
            return False
        if retains or not present.merged_keys:
            return False
        bare: JsonObject = {
            "apiVersion": "v1",
            "kind": key.kind,
            "metadata": {"name": key.name, "namespace": key.namespace},
        }
        await self._gateway.apply(resource, name, bare, uid=present.uid, manager=merge_manager(owner_uid))
        return True

    def _remember(self, desired: DesiredTarget, answer: JsonObject, owner_uid: str, *, merging: bool) -> None:
        meta = mapping_of(answer.get("metadata"))
        self._observed.put(
            ObservedTarget(
                key=desired.key,
                uid=str(meta.get("uid", "")),
                resource_version=str(meta.get("resourceVersion", "")),
                owner_uid=None if merging else owner_uid,
                fingerprint="" if merging else desired.fingerprint,
            )
        )


def _present(seen: ObservedTarget, body: Mapping[str, JsonValue], owner_uid: str) -> PresentTarget:
    return PresentTarget(
        key=seen.key,
        uid=seen.uid,
        resource_version=seen.resource_version,
        owner_uid=seen.owner_uid,
        fingerprint=seen.fingerprint,
        body=body,
        manager=merge_manager(owner_uid),
    )


def _version(body: Mapping[str, JsonValue]) -> str:
    meta = body.get("metadata")
    return str(meta.get("resourceVersion", "")) if isinstance(meta, Mapping) else ""


def _budget(owner_uid: str, key: TargetKey) -> str:
    # Of each target: whoever deletes all Secrets of a CertificateProfile at once has them all back at once.
    return f"{owner_uid} {key.kind} {key.name}"
