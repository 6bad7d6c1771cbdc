"""Which objects a command is about: kinds and names as kubectl takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keybearer.cli.failures import misused

__all__ = ["KINDS", "Target", "kind_of_word", "one_target_of", "targets_of"]

KINDS: Mapping[str, tuple[str, ...]] = {
    "SecretSync": ("secretsync", "secretsyncs", "kbs"),
    "AppConnection": ("appconnection", "appconnections", "kbac"),
    "CertificateProfile": ("certificateprofile", "certificateprofiles", "kbcp"),
}
"""Singular, plural and short name of each kind, as its CRD has them; loading the models for that would be felt."""
_GROUP = ".keybearer.dev"


@dataclass(frozen=True, slots=True)
class Target:
    """A kind, and the name of one of its objects; without a name all of them."""

    kind: str
    name: str | None = None


def kind_of_word(word: str) -> str | None:
    """Return the kind that a word means; None for a word that means none."""
    plain = word.lower().removesuffix(_GROUP)
    return next((kind for kind, words in KINDS.items() if plain in words), None)


def targets_of(words: Sequence[str]) -> list[Target]:
    """Return what `KIND`, `KIND NAME...` and `KIND/NAME...` mean; each kind where nothing is said.

    Raises:
        CommandError: a word means none of our kinds, or both forms are mixed.
    """
    if not words:
        return [Target(kind) for kind in KINDS]
    if any("/" in word for word in words):
        return [_slashed(word) for word in words]
    kinds = [_kind(word) for word in words[0].split(",")]
    if len(words) == 1:
        return [Target(kind) for kind in kinds]
    if len(kinds) > 1:
        raise misused("names go with one kind: say KIND NAME, or KIND/NAME")
    return [Target(kinds[0], name) for name in words[1:]]


def one_target_of(words: Sequence[str]) -> Target:
    """Return what `KIND NAME` and `KIND/NAME` mean.

    Raises:
        CommandError: that is not one object.
    """
    found = targets_of(words)
    if len(found) != 1 or found[0].name is None:
        raise misused("name one object: KIND NAME, or KIND/NAME")
    return found[0]


def _slashed(word: str) -> Target:
    kind, slash, name = word.partition("/")
    if not (slash and name) or "/" in name:
        raise misused(f"{word!r} is no KIND/NAME")
    return Target(_kind(kind), name)


def _kind(word: str) -> str:
    found = kind_of_word(word)
    if found is None:
        known = ", ".join(words[0] for words in KINDS.values())
        raise misused(f"{word!r} is not a kind of Keybearer; the kinds are {known}")
    return found
