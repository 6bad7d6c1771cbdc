"""The drivers behind the models of `keybearer.wire.destinations.registry`, by the same names."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.outbound.destinations.codehost import CodehostSecrets
from keybearer.outbound.destinations.external_infisical import ExternalInfisicalFolder
from keybearer.outbound.destinations.gitlab import GitLabVariables
from keybearer.outbound.destinations.hashicorp_vault import VaultSecret
from keybearer.outbound.destinations.protocol import Driver

__all__ = ["DRIVERS"]

DRIVERS: Mapping[str, Driver] = {
    "codehost": CodehostSecrets,
    "gitlab": GitLabVariables,
    "hashicorp-vault": VaultSecret,
    "external-infisical": ExternalInfisicalFolder,
}
