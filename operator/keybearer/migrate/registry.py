"""Which converter takes which kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from keybearer.migrate.cert_manager.certificate import convert_certificate
from keybearer.migrate.cert_manager.ingress import asks_for_certificates, convert_ingress
from keybearer.migrate.cert_manager.issuer import convert_issuer
from keybearer.migrate.external_secrets.external_secret import (
    convert_cluster_external_secret,
    convert_external_secret,
)
from keybearer.migrate.external_secrets.push_secret import convert_cluster_push_secret, convert_push_secret
from keybearer.migrate.external_secrets.stores import convert_store
from keybearer.migrate.findings import Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.infisical.auth import convert_auth as convert_infisical_auth
from keybearer.migrate.infisical.auth import convert_connection as convert_infisical_connection
from keybearer.migrate.infisical.secret import convert_secret as convert_infisical_secret
from keybearer.migrate.infisical.static_secret import convert_static_secret as convert_infisical_static_secret
from keybearer.migrate.refused import REFUSED, refuse
from keybearer.migrate.surroundings import Conversion, Surroundings
from keybearer.migrate.vault.auth import convert_auth as convert_vault_auth
from keybearer.migrate.vault.auth import convert_connection as convert_vault_connection
from keybearer.migrate.vault.auth import convert_transformation
from keybearer.migrate.vault.pki_secret import convert_pki_secret
from keybearer.migrate.vault.static_secret import convert_static_secret as convert_vault_static_secret

__all__ = ["Converter", "Project", "converter_of", "project_of"]

Converter = Callable[[ForeignObject, Surroundings, Notes], Conversion]


class Project(StrEnum):
    """Whose kinds are read."""

    EXTERNAL_SECRETS = "External Secrets Operator"
    INFISICAL = "Infisical operator"
    VAULT = "Vault Secrets Operator"
    CERT_MANAGER = "cert-manager"


_CONVERTERS: Mapping[tuple[str, str], Converter] = {
    ("external-secrets.io", "ExternalSecret"): convert_external_secret,
    ("external-secrets.io", "ClusterExternalSecret"): convert_cluster_external_secret,
    ("external-secrets.io", "SecretStore"): convert_store,
    ("external-secrets.io", "ClusterSecretStore"): convert_store,
    ("external-secrets.io", "PushSecret"): convert_push_secret,
    ("external-secrets.io", "ClusterPushSecret"): convert_cluster_push_secret,
    ("secrets.infisical.com", "InfisicalSecret"): convert_infisical_secret,
    ("secrets.infisical.com", "InfisicalStaticSecret"): convert_infisical_static_secret,
    ("secrets.infisical.com", "InfisicalAuth"): convert_infisical_auth,
    ("secrets.infisical.com", "InfisicalConnection"): convert_infisical_connection,
    ("secrets.hashicorp.com", "VaultStaticSecret"): convert_vault_static_secret,
    ("secrets.hashicorp.com", "VaultPKISecret"): convert_pki_secret,
    ("secrets.hashicorp.com", "VaultAuth"): convert_vault_auth,
    ("secrets.hashicorp.com", "VaultConnection"): convert_vault_connection,
    ("secrets.hashicorp.com", "SecretTransformation"): convert_transformation,
    ("cert-manager.io", "Certificate"): convert_certificate,
    ("cert-manager.io", "Issuer"): convert_issuer,
    ("cert-manager.io", "ClusterIssuer"): convert_issuer,
}

_PROJECTS: Mapping[str, Project] = {
    "external-secrets.io": Project.EXTERNAL_SECRETS,
    "generators.external-secrets.io": Project.EXTERNAL_SECRETS,
    "secrets.infisical.com": Project.INFISICAL,
    "secrets.hashicorp.com": Project.VAULT,
    "cert-manager.io": Project.CERT_MANAGER,
    "acme.cert-manager.io": Project.CERT_MANAGER,
}


def project_of(one: ForeignObject) -> Project | None:
    """Return whose kind an object is of; None for anybody else's, such as a Secret."""
    if asks_for_certificates(one):
        return Project.CERT_MANAGER
    return _PROJECTS.get(one.group)


def converter_of(one: ForeignObject) -> Converter | None:
    """Return what converts an object; None for a kind that isn't known."""
    if asks_for_certificates(one):
        return convert_ingress
    found = _CONVERTERS.get((one.group, one.kind))
    if found is None and (one.group.startswith("generators.") or (one.group, one.kind) in REFUSED):
        return refuse
    return found
