"""Bodies of secret syncs: for every destination with a driver a configuration that is right."""

from __future__ import annotations

from typing import Any

__all__ = ["CONFIGS", "IMPORTING", "OVERWRITING", "app_of", "new_sync"]

Json = dict[str, Any]

CONFIGS: dict[str, Json] = {
    "cloud-parameter-store": {"region": "eu-west-1", "path": "/shop/"},
    "cloud-secrets-manager": {"region": "eu-west-1", "mappingBehavior": "one-to-one"},
    "codehost": {"scope": "repository", "owner": "o", "repo": "r"},
    "hashicorp-vault": {"mount": "kv", "path": "shop/dev"},
    "external-infisical": {"projectId": "p", "environment": "dev", "secretPath": "/"},
    "gitlab": {"scope": "project", "projectId": "7"},
    "gcp-secret-manager": {"scope": "global", "projectId": "shop-123456"},
    "azure-key-vault": {"vaultBaseUrl": "https://shop.vault.azure.net"},
}
OVERWRITING = {"initialSyncBehavior": "overwrite-destination"}
IMPORTING = {"initialSyncBehavior": "import-prioritize-destination"}
_APPS = {"cloud-parameter-store": "cloud", "cloud-secrets-manager": "cloud", "gcp-secret-manager": "gcp"}


def app_of(destination: str) -> str:
    """Return the app of the connections that the destination takes."""
    return _APPS.get(destination, destination)


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
