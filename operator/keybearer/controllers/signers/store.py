"""The open requests that watches showed; those that have their answer, or are not for us, are not kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from keybearer.controllers.signers.asked import Asked
from keybearer.controllers.signers.reading import read_asked
from keybearer.controllers.work import Lane, Trigger, WorkKey
from keybearer.kube.resources import JsonObject, ObjectKey

__all__ = ["OpenRequests", "RequestReceiver"]

_NO_CONDITIONS: tuple[()] = ()


class OpenRequests:
    """Open requests by the queue's key, and by the profile that is to sign them."""

    def __init__(self, trigger: Trigger, inherits: Callable[[str], bool] = lambda _: False) -> None:
        """Start empty.

        Args:
            trigger: puts a request on the queue.
            inherits: tells whether what a listing of that kind finds now may have been there for another process.
        """
        self._trigger = trigger
        self._inherits = inherits
        self.on_closed: list[Callable[[Asked], None]] = []
        """All are told of each request that needs nothing any more."""
        self._open: dict[WorkKey, Asked] = {}
        self._keys: dict[tuple[str, ObjectKey], WorkKey] = {}
        self._of_profile: dict[ObjectKey, set[WorkKey]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def get(self, key: WorkKey) -> Asked | None:
        """Return the newest version seen, or None where nothing is open."""
        return self._open.get(key)

    def existing(self, kind: str, namespace: str | None) -> set[ObjectKey]:
        """Return the open requests of a kind in the namespace, or in all."""
        return {key for known, key in self._keys if known == kind and namespace in (None, key.namespace)}

    def take_in(self, kind: str, key: ObjectKey, body: JsonObject, *, listed: bool) -> None:
        """Take in a version of an object; one that asks nothing new is not looked at again.

        Args:
            kind: of the object.
            key: its key.
            body: the object.
            listed: a listing found it: it may have been worked on before.
        """
        asked = read_asked(kind, body)
        known = self._keys.get((kind, key))
        before = None if known is None else self._open[known]
        if before is not None and (asked is None or asked.uid != before.uid):
            self.drop(kind, key)  # of another one of the same name, nobody has seen the end of the one before
            before = None
        if asked is None:
            return
        is_inherited = before.inherited if before is not None else listed and self._inherits(kind)
        asked = replace(asked, inherited=is_inherited)
        self._open[asked.key] = asked
        self._keys[kind, key] = asked.key
        self._of_profile.setdefault(asked.profile, set()).add(asked.key)
        if before is None or _question(before) != _question(asked):
            self._trigger(asked.key, Lane.FIRST if listed else Lane.URGENT)

    def drop(self, kind: str, key: ObjectKey) -> None:
        """Forget a request: it has its answer, or its object is gone."""
        known = self._keys.pop((kind, key), None)
        if known is None:
            return
        asked = self._open.pop(known)
        left = self._of_profile[asked.profile]
        left.discard(known)
        if not left:
            del self._of_profile[asked.profile]
        for tell in self.on_closed:
            tell(asked)

    def profile_changed(self, profile: ObjectKey) -> None:
        """Look at the requests of a profile again: it came, or is ready now."""
        for key in self._of_profile.get(profile, ()):
            self._trigger(key, Lane.FIRST)


class RequestReceiver:
    """Passes what the watch of one kind of request tells on to the open ones."""

    def __init__(self, kind: str, requests: OpenRequests) -> None:
        self._kind = kind
        self._requests = requests

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        """Return the requests that are believed to be there."""
        return self._requests.existing(self._kind, namespace)

    def listed(self, key: ObjectKey, found: JsonObject) -> None:
        """Take in what a listing found."""
        self._requests.take_in(self._kind, key, found, listed=True)

    def changed(self, key: ObjectKey, found: JsonObject) -> None:
        """Take in what was created or changed."""
        self._requests.take_in(self._kind, key, found, listed=False)

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:  # noqa: ARG002 - its end is all
        """Take in the end of a request."""
        self._requests.drop(self._kind, key)


def _question(asked: Asked) -> Asked:
    """Return it without what our own answers change."""
    return replace(asked, resource_version="", conditions=_NO_CONDITIONS, told=None)
