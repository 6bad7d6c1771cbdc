"""All destinations that have a driver."""

from __future__ import annotations

from keybearer.wire.destinations.azure_key_vault import AZURE_KEY_VAULT
from keybearer.wire.destinations.base import DestinationModel
from keybearer.wire.destinations.cloud_parameter_store import CLOUD_PARAMETER_STORE
from keybearer.wire.destinations.cloud_secrets_manager import CLOUD_SECRETS_MANAGER
from keybearer.wire.destinations.codehost import CODEHOST
from keybearer.wire.destinations.external_infisical import EXTERNAL_INFISICAL
from keybearer.wire.destinations.gcp_secret_manager import GCP_SECRET_MANAGER
from keybearer.wire.destinations.gitlab import GITLAB
from keybearer.wire.destinations.hashicorp_vault import HASHICORP_VAULT

__all__ = ["DRIVEN", "destination_model"]

DRIVEN: tuple[DestinationModel, ...] = (
    CLOUD_PARAMETER_STORE,
    CLOUD_SECRETS_MANAGER,
    CODEHOST,
    GCP_SECRET_MANAGER,
    AZURE_KEY_VAULT,
    HASHICORP_VAULT,
    EXTERNAL_INFISICAL,
    GITLAB,
)

_BY_NAME = {destination.name: destination for destination in DRIVEN}


def destination_model(name: str) -> DestinationModel | None:
    """Return the destination of interface.md's name; None for one without a driver."""
    return _BY_NAME.get(name)
