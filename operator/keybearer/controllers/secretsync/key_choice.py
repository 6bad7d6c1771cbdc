"""Which secrets a selection takes, by name, and which keys of the target they become. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.secretsync.patterns import Matcher, Renamer, compile_matcher, compile_renamer
from keybearer.controllers.secretsync.spec_source import KeySelection

__all__ = ["KeyChoice", "compile_choice"]

_COMPILED_MAX = (
    128  # selections whose patterns stay compiled; each takes at most about 1 MiB, most take little
)
_CALL_STEPS = 150  # what calling RE2 from Python costs besides


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """The patterns of a selection, compiled: which secrets it takes, and what it calls them."""

    includes: Matcher
    excludes: Matcher
    renamers: tuple[Renamer, ...]
    item_keys: frozenset[str]

    def work(self, secrets: Sequence[SourceSecret]) -> int:
        """Return how many steps matching the names of these may take at worst."""
        all_sizes = (self.includes.size, self.excludes.size, *(renamer.size for renamer in self.renamers))
        sizes = [size for size in all_sizes if size]
        if not sizes:
            return 0
        return sum(map(len, (secret.key for secret in secrets))) * sum(sizes) + (
            len(secrets) * len(sizes) * _CALL_STEPS
        )

    def takes(self, key: str) -> bool:
        """Tell whether a secret of this name is taken."""
        return key in self.item_keys or (self.includes(key) and not self.excludes(key))

    def rename(self, key: str) -> str:
        """Return the key of the target that a secret of this name becomes."""
        for renamer in self.renamers:
            renamed = renamer(key)
            if renamed is not None:
                return renamed
        return key


@lru_cache(maxsize=_COMPILED_MAX)
def compile_choice(keys: KeySelection) -> KeyChoice:
    """Return the selection with its patterns compiled.

    Raises:
        InvalidPatternError: one of them is none; the message names the field.
    """
    return KeyChoice(
        includes=compile_matcher(keys.include, "keys.include"),
        excludes=compile_matcher(keys.exclude, "keys.exclude"),
        renamers=tuple(
            compile_renamer(rename.pattern, rename.replacement, f"keys.rename[{index}]")
            for index, rename in enumerate(keys.rename)
        ),
        item_keys=frozenset(item.key for item in keys.items),
    )
