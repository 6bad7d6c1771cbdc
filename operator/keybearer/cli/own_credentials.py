"""The environment variables that hold Keybearer's own credentials: the one place that knows all of them."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["OwnCredential"]


class OwnCredential(StrEnum):
    """A variable whose value nobody else needs to know; `keybearer run` takes all of them out."""

    TOKEN = "KEYBEARER_TOKEN"
    CLIENT_SECRET = "KEYBEARER_CLIENT_SECRET"
    PASSWORD = "KEYBEARER_PASSWORD"
    NEW_PASSWORD = "KEYBEARER_NEW_PASSWORD"
    BIND_PASSWORD = "KEYBEARER_BIND_PASSWORD"
    APP_CREDENTIALS = "KEYBEARER_APP_CREDENTIALS"
    EAB_KEY = "KEYBEARER_EAB_KEY"
    ROOT_KEY = "KEYBEARER_ROOT_KEY"
    DATABASE_URL = "KEYBEARER_DATABASE_URL"
    """Which may hold a password."""
