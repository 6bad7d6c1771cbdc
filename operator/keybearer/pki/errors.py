"""Why keys, requests and certificates are refused. Texts are for who sent them, and hold no key material."""

from __future__ import annotations

from keybearer.base.errors import KeybearerError

__all__ = [
    "ChainError",
    "KeystoreError",
    "MalformedError",
    "OutlivesIssuerError",
    "PkiError",
    "TemplateError",
    "UnsupportedAlgorithmError",
]


class PkiError(KeybearerError):
    """Anything of X.509 that can't be read, made or trusted."""


class MalformedError(PkiError):
    """Bytes aren't what they should be: a request, a certificate, a key, a question."""


class UnsupportedAlgorithmError(PkiError):
    """A kind of key or signature that can't be made or used here."""


class TemplateError(PkiError):
    """What is asked for makes no certificate: a name of no allowed form, usages or dates that contradict."""


class OutlivesIssuerError(TemplateError):
    """A certificate would be valid longer than that of who signs it."""


class ChainError(PkiError):
    """A certificate can't be trusted by way of the given chain and roots; the text says at which one and why."""


class KeystoreError(PkiError):
    """A keystore can't be made of this, or doesn't open."""
