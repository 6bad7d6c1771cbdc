"""Kinds that are known and have no equal: why, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.surroundings import Conversion, Surroundings

__all__ = ["REFUSED", "refuse"]

_GENERATED = (
    "Keybearer generates no values in the cluster",
    "Keep a value in the service (keybearer secrets set), or leave this to its operator.",
)
_LEASED = (
    "credentials that are made on demand and end with a lease have no equal",
    "Leave this to its operator, or keep lasting credentials in the service.",
)
_INTO_THE_SERVICE = (
    "a Secret of the cluster goes into the service, where Keybearer carries only from there",
    "Bring the values in once (keybearer secrets import), and change them there.",
)
_SHORT_LIVED = (
    "is made and forgotten within minutes",
    "Convert what made it; cert-manager's requests can be signed by a CertificateProfile (docs/signers.md).",
)

REFUSED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("secrets.infisical.com", "InfisicalPushSecret"): _INTO_THE_SERVICE,
    ("secrets.infisical.com", "InfisicalDynamicSecret"): _LEASED,
    ("secrets.infisical.com", "ClusterGenerator"): _GENERATED,
    ("secrets.infisical.com", "Password"): _GENERATED,
    ("secrets.infisical.com", "UUID"): _GENERATED,
    ("secrets.hashicorp.com", "VaultDynamicSecret"): _LEASED,
    ("secrets.hashicorp.com", "CSISecrets"): (
        "secrets that are mounted without a Secret have no equal",
        "Mount the Secret that a SecretSync writes.",
    ),
    ("secrets.hashicorp.com", "HCPVaultSecretsApp"): (
        "that service is no source",
        "Bring its contents into the service: keybearer secrets import.",
    ),
    ("secrets.hashicorp.com", "HCPAuth"): ("that service is no source", ""),
    ("secrets.hashicorp.com", "VaultAuthGlobal"): (
        "logins are not shared between namespaces",
        "Put a Secret of an identity into each namespace, or let the operator share one (--shared-grants).",
    ),
    ("cert-manager.io", "CertificateRequest"): _SHORT_LIVED,
    ("acme.cert-manager.io", "Order"): _SHORT_LIVED,
    ("acme.cert-manager.io", "Challenge"): _SHORT_LIVED,
}


def refuse(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:  # noqa: ARG001 - one form for all
    """Say why a kind has no equal.

    Raises:
        NotCarriedError: always.
    """
    why, remedy = (
        _GENERATED if one.group == "generators.external-secrets.io" else REFUSED[one.group, one.kind]
    )
    raise NotCarriedError("", why, remedy)
