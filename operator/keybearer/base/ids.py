"""Identifiers that must not be swapped, and how fresh ones are made."""

from __future__ import annotations

import secrets
import uuid
from typing import NewType

__all__ = [
    "EnvironmentSlug",
    "FolderPath",
    "IdentityId",
    "OrganizationId",
    "ProjectId",
    "new_request_id",
    "new_uuid",
]

OrganizationId = NewType("OrganizationId", str)
ProjectId = NewType("ProjectId", str)
EnvironmentSlug = NewType("EnvironmentSlug", str)
FolderPath = NewType("FolderPath", str)
IdentityId = NewType("IdentityId", str)


def new_uuid() -> str:
    """Return a random UUID as text (RFC 9562, version 4)."""
    return str(uuid.uuid4())


def new_request_id() -> str:
    """Return a fresh `req-...` for logs and error bodies (interface.md section 7)."""
    return f"req-{secrets.token_urlsafe(10)}"
