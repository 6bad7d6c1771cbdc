"""The name under which the cluster's kinds of requests know a CertificateProfile. Pure."""

from __future__ import annotations

import re
from typing import Final

from keybearer.kube.resources import ObjectKey

__all__ = ["SIGNER_DOMAIN", "bundle_name", "profile_of_signer", "signer_name"]

SIGNER_DOMAIN: Final = "certificateprofiles.keybearer.dev"

# A namespace is a DNS label, so the first dot after the slash ends it; the name of a profile may hold dots.
_SIGNER = re.compile(
    rf"{re.escape(SIGNER_DOMAIN)}/(?P<namespace>[a-z0-9](?:[-a-z0-9]{{0,61}}[a-z0-9])?)\."
    r"(?P<name>[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?)"
)


def signer_name(profile: ObjectKey) -> str:
    """Return the signer's name of a profile: `certificateprofiles.keybearer.dev/<namespace>.<name>`."""
    return f"{SIGNER_DOMAIN}/{profile.namespace}.{profile.name}"


def profile_of_signer(signer: str) -> ObjectKey | None:
    """Return the profile that a signer's name stands for, or None where it is no such name."""
    found = _SIGNER.fullmatch(signer)
    return ObjectKey(found["namespace"], found["name"]) if found is not None else None


def bundle_name(profile: ObjectKey, authority: str) -> str:
    """Return the name of the ClusterTrustBundle of one authority of a profile.

    The API server demands the signer's name as a prefix, its slashes as colons.

    Args:
        profile: whose bundle.
        authority: the id of the authority in the service.
    """
    return f"{signer_name(profile).replace('/', ':')}:{authority.lower()}"
