"""Identifiers that must not be swapped, and how fresh ones are made."""

from __future__ import annotations

import os
import re
import secrets
from typing import NewType

__all__ = [
    "EnvironmentSlug",
    "FolderPath",
    "IdentityId",
    "OrganizationId",
    "ProjectId",
    "is_uuid",
    "new_request_id",
    "new_uuid",
]

OrganizationId = NewType("OrganizationId", str)
ProjectId = NewType("ProjectId", str)
EnvironmentSlug = NewType("EnvironmentSlug", str)
FolderPath = NewType("FolderPath", str)
IdentityId = NewType("IdentityId", str)


_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FIXED_BITS = 0xF000_C000_0000_0000_0000
_VERSION_4 = 0x4000_8000_0000_0000_0000


def new_uuid() -> str:
    """Return a random UUID as text (RFC 9562, version 4)."""
    # As uuid4 does, without an object in between: a certificate takes three of them.
    number = int.from_bytes(os.urandom(16)) & ~_FIXED_BITS | _VERSION_4
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_uuid(text: str) -> bool:
    """Return whether a text is a UUID, as ids of the service are."""
    return _UUID.fullmatch(text) is not None


def new_request_id() -> str:
    """Return a fresh `req-...` for logs and error bodies (interface.md section 7)."""
    return f"req-{secrets.token_urlsafe(10)}"
