"""Follows objects of ours by watches, for `kubectl keybearer status --watch`: nothing is asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from keybearer.cli.kubectl.cluster import bodies_of

if TYPE_CHECKING:
    from keybearer.cli.kubectl.cluster import Cluster
    from keybearer.cli.kubectl.targets import Target
    from keybearer.kube.list_watch import ListWatch
    from keybearer.kube.resources import JsonObject, ObjectKey

__all__ = ["follow_objects"]

_SHOWN_AGAIN_SECONDS = 10.0
"""The ages that are shown grow while nothing changes. This asks the cluster nothing."""
_ABSENT_SECONDS = 10.0
"""How often a kind is looked for that the cluster doesn't know: its CRD may come, or come back."""


class _Seen:
    """The objects of one kind as they were seen last; a `Receiver` of a watch.

    Args:
        target: its kind, and the name of the only object that counts, if one was named.
        changed: is called after each change.
    """

    def __init__(self, target: Target, changed: Callable[[], None]) -> None:
        self._target = target
        self._changed = changed
        self.bodies: dict[ObjectKey, JsonObject] = {}
        self.is_unknown = False
        """Whether the cluster doesn't know the kind."""

    # What a `Receiver` does is said there.
    def existing(self, namespace: str | None) -> set[ObjectKey]:
        return {key for key in self.bodies if namespace in (None, key.namespace)}

    def listed(self, key: ObjectKey, found: JsonObject) -> None:
        self._take(key, found)

    def changed(self, key: ObjectKey, found: JsonObject) -> None:
        self._take(key, found)

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:  # noqa: ARG002 - nothing of it counts
        if self.bodies.pop(key, None) is not None:
            self._changed()

    def come(self) -> None:
        """Take note that the cluster knows the kind."""
        self.is_unknown = False

    def go(self) -> None:
        """Take note that the cluster doesn't know the kind: nothing is left of it."""
        self.is_unknown = True
        for key in self.existing(None):
            self.gone(key, None)

    def _take(self, key: ObjectKey, found: JsonObject) -> None:
        if self._target.name not in (None, key.name):
            return
        # Lists leave out what each of their objects is.
        body: JsonObject = {**found, "kind": self._target.kind}
        if self.bodies.get(key) != body:
            self.bodies[key] = body
            self._changed()


async def follow_objects(
    cluster: Cluster,
    targets: Sequence[Target],
    show: Callable[[list[JsonObject], str | None], None],
    *,
    everywhere: bool,
) -> None:
    """Show the objects, and again after each change, until cancelled.

    Args:
        cluster: where.
        targets: which.
        show: is given the objects, and what keeps them from being followed at the moment.
        everywhere: in all namespaces, not only in the command's.

    Raises:
        CommandError, KubeError: they can't be shown the first time.
    """
    import random

    from keybearer.controllers.kinds import RESOURCES
    from keybearer.kube.list_watch import ListWatch
    from keybearer.kube.resources import ObjectKey

    changed = asyncio.Event()
    seen = [_Seen(target, changed.set) for target in targets]
    for body in await bodies_of(cluster, targets, everywhere=everywhere):
        key = ObjectKey.of(body)
        for target, one in zip(targets, seen, strict=True):
            if target.kind == body.get("kind"):
                one.listed(key, body)
    watches = [
        ListWatch(
            cluster.connection,
            RESOURCES[target.kind],
            one,
            label_selector="",
            metadata_only=False,
            rng=random.Random(),  # noqa: S311 - spreads reconnecting
            namespaces=None if everywhere else (cluster.namespace,),
            optional=True,
        )
        for target, one in zip(targets, seen, strict=True)
    ]
    try:
        await _follow(targets, seen, watches, changed, show)
    except BaseExceptionGroup as group:
        # What `show` raises, such as a pipe that nobody reads any more, is for the command line to tell.
        if len(group.exceptions) > 1:
            raise
        raise group.exceptions[0] from None


async def _follow(
    targets: Sequence[Target],
    seen: Sequence[_Seen],
    watches: Sequence[ListWatch],
    changed: asyncio.Event,
    show: Callable[[list[JsonObject], str | None], None],
) -> None:
    trouble: str | None = None
    async with asyncio.TaskGroup() as group:
        for target, one, watch in zip(targets, seen, watches, strict=True):
            group.create_task(_keep_following(watch, one), name=f"watch {target.kind}")
        while True:
            changed.clear()
            show([body for one in seen for body in one.bodies.values()], trouble)
            trouble = None
            try:
                async with asyncio.timeout(_SHOWN_AGAIN_SECONDS):
                    await changed.wait()
            except TimeoutError:
                # That the cluster doesn't know a kind is no trouble: others are shown without it.
                troubles = (
                    watch.trouble for watch, one in zip(watches, seen, strict=True) if not one.is_unknown
                )
                trouble = next((one for one in troubles if one), None)


async def _keep_following(watch: ListWatch, seen: _Seen) -> None:
    watch.on_followed = seen.come
    while True:
        await watch.run()
        # It ends only where the cluster doesn't know the kind.
        seen.go()
        await asyncio.sleep(_ABSENT_SECONDS)
