"""The name of the Secret that holds the keys of a profile's certificates."""

from __future__ import annotations

import hashlib

__all__ = ["keyring_name"]

_NAME_MAX = 253
_SUFFIX = ".certificate-keys"


def keyring_name(profile: str) -> str:
    """Return the name of the Secret that belongs to a CertificateProfile."""
    if len(profile) + len(_SUFFIX) <= _NAME_MAX:
        return profile + _SUFFIX
    digest = hashlib.sha256(profile.encode()).hexdigest()[:12]
    kept = profile[: _NAME_MAX - len(_SUFFIX) - len(digest) - 1].rstrip("-.")
    return f"{kept}-{digest}{_SUFFIX}"
