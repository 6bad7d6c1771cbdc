"""Which Secrets a CertificateProfile has: one with the keys, and one for each certificate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, text_of
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.work import WorkKey

__all__ = ["keyring_name", "targets_of"]

_NAME_MAX = 253
_SUFFIX = ".certificate-keys"


def keyring_name(profile: str) -> str:
    """Return the name of the Secret that belongs to a CertificateProfile."""
    if len(profile) + len(_SUFFIX) <= _NAME_MAX:
        return profile + _SUFFIX
    digest = hashlib.sha256(profile.encode()).hexdigest()[:12]
    kept = profile[: _NAME_MAX - len(_SUFFIX) - len(digest) - 1].rstrip("-.")
    return f"{kept}-{digest}{_SUFFIX}"


def targets_of(spec: JsonValue, owner: WorkKey) -> tuple[TargetKey, ...]:
    """Return what a spec says is written, judged or not: the Secret of keys first, each Secret once."""
    names = (keyring_name(owner.name), *_certificate_secrets(spec))
    return tuple(TargetKey("Secret", owner.namespace, one) for one in dict.fromkeys(names))


def _certificate_secrets(spec: JsonValue) -> Iterator[str]:
    for one in list_of(mapping_of(spec).get("certificates")):
        entry = mapping_of(one)
        name = text_of(entry.get("secretName")) or text_of(entry.get("name"))
        if name:
            yield name
