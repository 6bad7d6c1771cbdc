"""Our kinds, and where the API server serves them."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from pydantic import JsonValue

from keybearer.controllers.json_reading import mapping_of, text_of
from keybearer.kube.resources import APP_CONNECTIONS, CERTIFICATE_PROFILES, SECRET_SYNCS, Resource

__all__ = ["RESOURCES", "cleanup_identity"]

RESOURCES: Mapping[str, Resource] = {
    resource.kind: resource for resource in (SECRET_SYNCS, APP_CONNECTIONS, CERTIFICATE_PROFILES)
}
"""By the name of the kind."""


def cleanup_identity(kind: str, body: Mapping[str, JsonValue]) -> str:
    """Return the identity Secret by which an object takes back what it made in the service, or nothing."""
    spec = mapping_of(body.get("spec"))
    only_reads = "destination" not in spec and "sync" not in mapping_of(body.get("status"))
    if kind == SECRET_SYNCS.kind and only_reads:
        return ""
    # A hundred objects name the same one.
    return sys.intern(text_of(mapping_of(spec.get("identityRef")).get("name")))
