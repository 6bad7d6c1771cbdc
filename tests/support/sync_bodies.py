"""Bodies of secret syncs: for every destination with a driver a configuration that is right.

Those that aren't written here stand with the destination's copy.
"""

from __future__ import annotations

from typing import Any

from keybearer.destinations.catalogue import CATALOGUE
from support.remotes.example import example_of

__all__ = ["CONFIGS", "IMPORTING", "OVERWRITING", "WRITTEN", "app_of", "new_sync"]

Json = dict[str, Any]

WRITTEN: dict[str, Json] = {
    "cloud-parameter-store": {"region": "eu-west-1", "path": "/shop/"},
    "cloud-secrets-manager": {"region": "eu-west-1", "mappingBehavior": "one-to-one"},
    "codehost": {"scope": "repository", "owner": "o", "repo": "r"},
    "hashicorp-vault": {"mount": "kv", "path": "shop/dev"},
    "external-infisical": {"projectId": "p", "environment": "dev", "secretPath": "/"},
    "gitlab": {"scope": "project", "projectId": "7"},
    "gcp-secret-manager": {"scope": "global", "projectId": "shop-123456"},
    "azure-key-vault": {"vaultBaseUrl": "https://shop.vault.azure.net"},
}
CONFIGS: dict[str, Json] = {
    kind.name: WRITTEN.get(kind.name) or dict(example_of(kind.name).config) for kind in CATALOGUE.kinds
}
OVERWRITING = {"initialSyncBehavior": "overwrite-destination"}
IMPORTING = {"initialSyncBehavior": "import-prioritize-destination"}


def app_of(destination: str) -> str:
    """Return the app of the connections that the destination takes."""
    kind = CATALOGUE.kind(destination)
    assert kind is not None
    return kind.connection


def new_sync(destination: str, project_id: str, connection_id: str, **changes: object) -> Json:
    """Return the body of a sync of the root of dev; fields that are None are left out."""
    body: Json = {
        "name": "to-there",
        "projectId": project_id,
        "connectionId": connection_id,
        "environment": "dev",
        "secretPath": "/",
        "syncOptions": OVERWRITING,
        "destinationConfig": CONFIGS[destination],
        **changes,
    }
    return {name: value for name, value in body.items() if value is not None}
