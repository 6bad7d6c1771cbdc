"""Names of apps and destinations: interface.md's words, and the published ones (design.md section 3).

A path may use either; an answer speaks the request's vocabulary, and interface.md's where the path names none.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

__all__ = ["Vocabulary", "canonical_app", "canonical_destination"]

_DESTINATIONS: Mapping[str, str] = {
    "cloud-parameter-store": "aws-parameter-store",
    "cloud-secrets-manager": "aws-secrets-manager",
    "codehost": "github",
}
_APPS: Mapping[str, str] = {"cloud": "aws", "codehost": "github", "idp": "auth0"}
_CANONICAL_DESTINATIONS = {published: own for own, published in _DESTINATIONS.items()}
_CANONICAL_APPS = {published: own for own, published in _APPS.items()}


class Vocabulary(StrEnum):
    """Whose words an answer uses."""

    INTERFACE = "interface"
    PUBLISHED = "published"

    def app(self, name: str) -> str:
        """Return this vocabulary's word for the app of interface.md's name."""
        return _APPS.get(name, name) if self is Vocabulary.PUBLISHED else name

    def destination(self, name: str) -> str:
        """Return this vocabulary's word for the destination of interface.md's name."""
        return _DESTINATIONS.get(name, name) if self is Vocabulary.PUBLISHED else name


def canonical_app(word: str) -> tuple[str, Vocabulary]:
    """Return interface.md's name of the app that a path names, and the vocabulary of the path."""
    own = _CANONICAL_APPS.get(word)
    return (word, Vocabulary.INTERFACE) if own is None else (own, Vocabulary.PUBLISHED)


def canonical_destination(word: str) -> tuple[str, Vocabulary]:
    """Return interface.md's name of the destination that a path names, and the vocabulary of the path."""
    own = _CANONICAL_DESTINATIONS.get(word)
    return (word, Vocabulary.INTERFACE) if own is None else (own, Vocabulary.PUBLISHED)
