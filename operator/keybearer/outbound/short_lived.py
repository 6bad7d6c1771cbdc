"""Tokens that remotes give for credentials: moved to `keybearer.destinations.short_lived`."""

from __future__ import annotations

import hashlib

from keybearer.destinations.app import Issued
from keybearer.destinations.short_lived import ShortLived
from keybearer.wire.connections.base import Credentials

__all__ = ["Issued", "ShortLived", "key_of"]


def key_of(app: str, credentials: Credentials) -> tuple[str, ...]:
    """Return what tokens of these credentials are kept under."""
    return app, hashlib.sha256(credentials.model_dump_json().encode()).hexdigest()
