"""Follows the Secrets and ConfigMaps that carry our label, for the intake.

A watch of our own: through kopf each event of a Secret costs three times as much, each Secret 9 KiB, and one that
was deleted while no watch ran is never reported (`docs/decisions/0010-targets-are-watched-without-kopf.md`).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Final

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.observed_targets import ObservedStore
from keybearer.controllers.target.desired import MANAGED_LABEL
from keybearer.kube.connection import Connection
from keybearer.kube.list_watch import ListWatch
from keybearer.kube.resources import CONFIG_MAPS, SECRETS, JsonObject, ObjectKey, Resource

__all__ = ["TargetReceiver", "TargetWatches"]

_OURS: Final = f"{MANAGED_LABEL}=true"


class TargetReceiver:
    """Passes what the watch of one kind of target tells on to the intake."""

    def __init__(self, kind: str, intake: EventIntake, observed: ObservedStore) -> None:
        self._kind = kind
        self._intake = intake
        self._observed = observed

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        """Return the targets of this kind that were seen."""
        return {
            ObjectKey(seen.key.namespace, seen.key.name)
            for seen in self._observed
            if seen.key.kind == self._kind and namespace in (None, seen.key.namespace)
        }

    def listed(self, key: ObjectKey, found: JsonObject) -> None:  # noqa: ARG002 - it stands in the object too
        """Take in what a listing found."""
        self._intake.target_listed(self._kind, found)

    def changed(self, key: ObjectKey, found: JsonObject) -> None:  # noqa: ARG002 - it stands in the object too
        """Take in what was created or changed."""
        self._intake.target_changed(self._kind, found)

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:
        """Take in the end of a target."""
        uid = text_of(mapping_of(last.get("metadata")).get("uid")) if last is not None else None
        self._intake.target_gone(TargetKey(self._kind, key.namespace, key.name), uid)


class TargetWatches:
    """The watches of both kinds of target.

    Args:
        connection: borrowed.
        intake: who is told.
        observed: what was seen so far.
        rng: spreads reconnecting.
        namespaces: one watch of each kind in each of these; None watches all.
    """

    def __init__(
        self,
        connection: Connection,
        intake: EventIntake,
        observed: ObservedStore,
        rng: random.Random,
        namespaces: Sequence[str] | None,
    ) -> None:
        def watch(resource: Resource) -> ListWatch:
            return ListWatch(
                connection,
                resource,
                TargetReceiver(resource.kind, intake, observed),
                label_selector=_OURS,
                metadata_only=False,
                rng=rng,
                namespaces=namespaces,
            )

        self._watches = (watch(SECRETS), watch(CONFIG_MAPS))

    @property
    def trouble(self) -> str | None:
        """Say what keeps targets from being followed, or None."""
        return next((watch.trouble for watch in self._watches if watch.trouble), None)

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as group:
            for watch in self._watches:
                group.create_task(watch.run())
