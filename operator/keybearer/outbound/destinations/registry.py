"""The drivers behind the models of `keybearer.wire.destinations.registry`, by the same names."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.outbound.destinations.azure_key_vault import KeyVaultSecrets
from keybearer.outbound.destinations.cloud_parameter_store import ParameterStore
from keybearer.outbound.destinations.cloud_secrets_manager import secrets_manager
from keybearer.outbound.destinations.codehost import CodehostSecrets
from keybearer.outbound.destinations.external_infisical import ExternalInfisicalFolder
from keybearer.outbound.destinations.gcp_secret_manager import GcpSecrets
from keybearer.outbound.destinations.gitlab import GitLabVariables
from keybearer.outbound.destinations.hashicorp_vault import VaultSecret
from keybearer.outbound.destinations.protocol import Driver

__all__ = ["DRIVERS"]

DRIVERS: Mapping[str, Driver] = {
    "cloud-parameter-store": ParameterStore,
    "cloud-secrets-manager": secrets_manager,
    "codehost": CodehostSecrets,
    "gcp-secret-manager": GcpSecrets,
    "azure-key-vault": KeyVaultSecrets,
    "gitlab": GitLabVariables,
    "hashicorp-vault": VaultSecret,
    "external-infisical": ExternalInfisicalFolder,
}
