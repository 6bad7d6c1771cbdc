"""The root of the exception tree.

Every error that Keybearer raises on purpose descends from `KeybearerError`; each strand keeps its own
branch (`keybearer.domain.errors`, `keybearer.client.errors`, `keybearer.kube.errors`,
`keybearer.controllers.outcome`). Messages name the object and the remedy, never a secret value.
"""

from __future__ import annotations

__all__ = ["ConfigurationError", "KeybearerError"]


class KeybearerError(Exception):
    """Anything Keybearer raises on purpose."""


class ConfigurationError(KeybearerError):
    """A setting, flag or file that the process was started with can't be used; the text says which."""
