"""Who refers to which objects, and which of their versions each has acted on."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Generic, TypeVar

from keybearer.kube.resources import ObjectKey

__all__ = ["OwnerT", "ReferenceBook"]

OwnerT = TypeVar("OwnerT", bound=Hashable)


class ReferenceBook(Generic[OwnerT]):
    """Remembers referenced objects only, one resourceVersion for each owner of each.

    A version belongs to an owner, not to the object: of two owners, one may have read the object before a
    change and one after it, and only the first is to be called back.
    """

    def __init__(self) -> None:
        self._versions: dict[ObjectKey, dict[OwnerT, str | None]] = {}
        self._keys: dict[OwnerT, frozenset[ObjectKey]] = {}

    def __len__(self) -> int:
        """Return how many objects are referred to."""
        return len(self._versions)

    def follow(self, owner: OwnerT, keys: Collection[ObjectKey]) -> None:
        """Make these the objects that the owner refers to; of those it had, the versions stay."""
        wanted = frozenset(keys)
        had = self._keys.get(owner, frozenset())
        for key in wanted - had:
            self._versions.setdefault(key, {})[owner] = None
        for key in had - wanted:
            owners = self._versions[key]
            del owners[owner]
            if not owners:
                del self._versions[key]
        if wanted:
            self._keys[owner] = wanted
        else:
            self._keys.pop(owner, None)

    def seen(self, owner: OwnerT, key: ObjectKey, version: str | None) -> None:
        """Note the version that the owner has read (None: there is no such object)."""
        owners = self._versions.get(key)
        if owners is not None and owner in owners:
            owners[owner] = version

    def changed(self, key: ObjectKey, version: str | None) -> frozenset[OwnerT]:
        """Note what the object now is (None: gone); return the owners who know it otherwise."""
        owners = self._versions.get(key)
        if owners is None:
            return frozenset()
        surprised = frozenset(owner for owner, known in owners.items() if known != version)
        for owner in surprised:
            owners[owner] = version
        return surprised

    def existing(self, namespace: str | None) -> set[ObjectKey]:
        """Return the objects of the namespace (of all when None) that some owner has seen exist."""
        return {
            key
            for key, owners in self._versions.items()
            if (namespace is None or key.namespace == namespace)
            and any(version is not None for version in owners.values())
        }
