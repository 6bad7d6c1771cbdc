"""The destination `azure-key-vault`: a secret per key in a vault."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue, TypeAdapter

from keybearer.wire.destinations.base import DestinationConfig, DestinationModel
from keybearer.wire.instance_url import InstanceUrl

__all__ = ["AZURE_KEY_VAULT", "KeyVaultConfig"]


class KeyVaultConfig(DestinationConfig):
    """Where the vault is, as its own page tells it."""

    vault_base_url: InstanceUrl


def _place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    if not isinstance(config, KeyVaultConfig):
        raise TypeError(type(config).__name__)
    return {"vaultBaseUrl": config.vault_base_url.rstrip("/").lower()}


AZURE_KEY_VAULT = DestinationModel(
    "azure-key-vault", "azure-key-vault", TypeAdapter(KeyVaultConfig), place=_place
)
