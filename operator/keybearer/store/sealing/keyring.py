"""Unsealed data keys, a bounded number of them in memory."""

from __future__ import annotations

from collections import OrderedDict

from keybearer.store.sealing.envelope import KeyName, SealingKey, WrappedKey, associate
from keybearer.store.sealing.known_sets import KnownSets
from keybearer.store.sealing.root_key import RootKeys

__all__ = ["Keyring", "data_key_identity", "server_key_identity"]

_CACHED_KEYS = 1024


def data_key_identity(project_id: str) -> bytes:
    """Return what a project's wrapped key is bound to; its name is bound by the envelope of what it seals."""
    return associate("data key", project_id)


def server_key_identity(name: str) -> bytes:
    """Return what a wrapped key of the service is bound to."""
    return associate("server key", name)


class Keyring:
    """The root keys, and the data keys that were used last."""

    def __init__(self, roots: RootKeys) -> None:
        self.roots = roots
        self.known = KnownSets()
        self._opened: OrderedDict[KeyName, SealingKey] = OrderedDict()

    def take(self, given: RootKeys) -> None:
        """Hold these root keys, and go on holding the former ones: what they wrapped may not be wrapped anew yet."""
        self.roots = given.joined(self.roots)

    def cached(self, name: KeyName) -> SealingKey | None:
        """Return the key if it is in memory."""
        key = self._opened.get(name)
        if key is not None:
            self._opened.move_to_end(name)
        return key

    def unwrap(self, name: KeyName, wrapped: WrappedKey, project_id: str) -> SealingKey:
        """Return the data key, keeping it in memory.

        Raises:
            ConfigurationError: the root key that wrapped it was not given.
            UnsealError: it was wrapped for another project, or damaged.
        """
        key = self.cached(name)
        if key is None:
            key = self.roots.unwrap(wrapped, name, data_key_identity(project_id))
            self.keep(key)
        return key

    def keep(self, key: SealingKey) -> None:
        """Keep the key in memory, letting go of the one unused for longest."""
        self._opened[key.name] = key
        self._opened.move_to_end(key.name)
        if len(self._opened) > _CACHED_KEYS:
            self._opened.popitem(last=False)
