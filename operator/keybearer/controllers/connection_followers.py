"""Which objects wait for, or use, which AppConnection: called when it is first seen, becomes ready or changes."""

from __future__ import annotations

from keybearer.controllers.work import Lane, Trigger, WorkKey

__all__ = ["ConnectionFollowers"]


class ConnectionFollowers:
    """Known from the reconciles of those objects; each is reconciled once after the start."""

    def __init__(self, trigger: Trigger) -> None:
        self._trigger = trigger
        self._followed: dict[WorkKey, WorkKey] = {}
        self._followers: dict[WorkKey, set[WorkKey]] = {}

    def follow(self, follower: WorkKey, name: str | None) -> None:
        """Make the AppConnection of that name, in its own namespace, what the follower uses; None ends it."""
        connection = None if name is None else WorkKey("AppConnection", follower.namespace, name)
        before = self._followed.get(follower)
        if before == connection:
            return
        if before is not None:
            followers = self._followers[before]
            followers.discard(follower)
            if not followers:
                del self._followers[before]
            del self._followed[follower]
            # It may wait for the end of its last user, to be deleted.
            self._trigger(before, Lane.URGENT)
        if connection is not None:
            self._followed[follower] = connection
            self._followers.setdefault(connection, set()).add(follower)

    def changed(self, connection: WorkKey) -> None:
        """Call those who use the AppConnection."""
        for follower in self._followers.get(connection, ()):
            self._trigger(follower, Lane.URGENT)
