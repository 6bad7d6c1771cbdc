"""What sources hold, what they ever held, and what changes next: decisions only, nothing is sent from here."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from tools.bench.workload import encoded
from tools.local.marks import MARK

__all__ = ["Change", "SourceLedger", "digest_of"]

_EXTRAS_MAX = 3
"""Secrets that come and go, of one source: few beside those that stay, or the guard would hold deletions back."""
_WIDEST_CHANGE = 3


def digest_of(data: Mapping[str, str]) -> bytes:
    """Return a digest of the `data` of a Secret: equal for equal keys and bytes, and for nothing else."""
    digest = hashlib.sha256()
    for part in (part for pair in sorted(data.items()) for part in pair):
        digest.update(len(part).to_bytes(4) + part.encode())
    return digest.digest()


@dataclass(frozen=True, slots=True)
class Change:
    """One transaction on a source.

    Attributes:
        kind: what happens, in the words of the report.
        revision: that it makes.
        values: that are set; none for a deletion.
        removed: names that go.
        after: all that the source holds afterwards.
    """

    kind: str
    revision: int
    values: Mapping[str, str] = field(repr=False)
    removed: tuple[str, ...]
    after: Mapping[str, str] = field(repr=False)


class SourceLedger:
    """One folder of the service. No two of its revisions hold the same, so that contents tell the revision.

    Attributes:
        number: among all sources.
        path: of the folder.
        values: committed last.
        revision: of these values.
    """

    def __init__(self, number: int, keys: int) -> None:
        self.number = number
        self.path = f"/source-{number}"
        self.revision = 0
        self.values: Mapping[str, str] = {}
        self._keys = keys
        self._extras: dict[str, int] = {}
        self._base_changed = 0
        self._revisions: dict[bytes, int] = {}

    def first(self) -> Change:
        """Return the change that fills the source."""
        return self._changing(
            "filled", {f"KEY_{key}": self._value(f"KEY_{key}") for key in range(self._keys)}
        )

    def next_change(self, rng: random.Random) -> Change:
        """Return a change of what is committed; nothing is noted before `asked`."""
        # Without a secret that was made before a value changed, what is left would be what there was already.
        old = [name for name, born in self._extras.items() if born < self._base_changed]
        chance = rng.random()
        if chance < 0.15 and old:
            return self._removing(rng.choice(old))
        if chance < 0.3 and len(self._extras) < _EXTRAS_MAX:
            name = f"EXTRA_{self.revision + 1}"
            return self._changing("secret created", {name: self._value(name)})
        names = rng.sample(range(self._keys), k=rng.randint(1, min(_WIDEST_CHANGE, self._keys)))
        return self._changing("value changed", {f"KEY_{key}": self._value(f"KEY_{key}") for key in names})

    def asked(self, change: Change) -> None:
        """Note that the service is about to be asked: from now on a reader may see it."""
        self._revisions[digest_of(encoded(change.after))] = change.revision

    def committed(self, change: Change) -> None:
        """Note that the service has answered."""
        self.revision, self.values = change.revision, change.after
        for name in change.removed:
            del self._extras[name]
        for name in change.values:
            if name.startswith("EXTRA_"):
                self._extras[name] = change.revision
            else:
                self._base_changed = change.revision

    def revision_of(self, digest: bytes) -> int | None:
        """Return the revision with these contents; None when there never was one."""
        return self._revisions.get(digest)

    def _changing(self, kind: str, values: Mapping[str, str]) -> Change:
        return Change(kind, self.revision + 1, values, (), {**self.values, **values})

    def _removing(self, name: str) -> Change:
        after = {key: value for key, value in self.values.items() if key != name}
        return Change("secret deleted", self.revision + 1, {}, (name,), after)

    def _value(self, name: str) -> str:
        return f"{MARK}{self.number}-{name}-r{self.revision + 1}"
