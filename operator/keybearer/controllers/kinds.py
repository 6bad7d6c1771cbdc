"""Our kinds, and where the API server serves them."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.kube.resources import APP_CONNECTIONS, CERTIFICATE_PROFILES, SECRET_SYNCS, Resource

__all__ = ["RESOURCES"]

RESOURCES: Mapping[str, Resource] = {
    resource.kind: resource for resource in (SECRET_SYNCS, APP_CONNECTIONS, CERTIFICATE_PROFILES)
}
"""By the name of the kind."""
