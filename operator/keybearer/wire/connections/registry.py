"""All apps that connections can be made to."""

from __future__ import annotations

from keybearer.wire.connections.azure_key_vault import AZURE_KEY_VAULT
from keybearer.wire.connections.base import AppModel
from keybearer.wire.connections.cloud import CLOUD
from keybearer.wire.connections.codehost import CODEHOST
from keybearer.wire.connections.external_infisical import EXTERNAL_INFISICAL
from keybearer.wire.connections.gcp import GCP
from keybearer.wire.connections.gitlab import GITLAB
from keybearer.wire.connections.hashicorp_vault import HASHICORP_VAULT
from keybearer.wire.connections.idp import IDP

__all__ = ["APPS", "app_model"]

APPS: tuple[AppModel, ...] = (
    AZURE_KEY_VAULT,
    CLOUD,
    CODEHOST,
    EXTERNAL_INFISICAL,
    GCP,
    GITLAB,
    HASHICORP_VAULT,
    IDP,
)

_BY_NAME = {app.name: app for app in APPS}


def app_model(name: str) -> AppModel | None:
    """Return the app of interface.md's name; None for one that no connection can be made to."""
    return _BY_NAME.get(name)
