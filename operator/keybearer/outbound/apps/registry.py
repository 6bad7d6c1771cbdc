"""The apps behind the models of `keybearer.wire.connections.registry`, by the same names."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.outbound.apps.azure_key_vault import AzureKeyVault
from keybearer.outbound.apps.cloud import Cloud
from keybearer.outbound.apps.codehost import CodeHost
from keybearer.outbound.apps.external_infisical import ExternalInfisical
from keybearer.outbound.apps.gcp import Gcp
from keybearer.outbound.apps.gitlab import GitLab
from keybearer.outbound.apps.hashicorp_vault import Vault
from keybearer.outbound.apps.idp import IdentityProvider
from keybearer.outbound.apps.protocol import App

__all__ = ["APPS"]

APPS: Mapping[str, App] = {
    "cloud": Cloud(),
    "codehost": CodeHost(),
    "gcp": Gcp(),
    "azure-key-vault": AzureKeyVault(),
    "gitlab": GitLab(),
    "idp": IdentityProvider(),
    "hashicorp-vault": Vault(),
    "external-infisical": ExternalInfisical(),
}
