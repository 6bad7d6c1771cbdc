"""Issuers of the kind ca: the authority in their Secret signs one of the service, so that clients trust it already.

The key of the Secret never goes to the service, and nothing of it is written to a file.
"""

from __future__ import annotations

import shlex
from typing import Final

from keybearer.migrate.cert_manager.acme import CLUSTER_NAMESPACE, OBJECT_NAME
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes
from keybearer.migrate.settings import IssuerPlace

__all__ = ["read_authority"]

_CERTIFICATE: Final = r"tls\.crt"
_KEY: Final = r"tls\.key"
_DAYS: Final = 1825
_LEAF_DAYS: Final = 90
"""As long as cert-manager's certificates are valid by default."""


def read_authority(authority: Part, issuer: tuple[str, str], place: IssuerPlace, notes: Notes) -> None:
    """Note the commands that make an authority of the service below the one of an issuer, and its profile.

    Args:
        authority: `ca` of the issuer.
        issuer: its kind and namespace.
        place: the profile that replaces it.
        notes: of the issuer.
    """
    for name in ("crlDistributionPoints", "ocspServers", "issuingCertificateURLs"):
        if name in authority:
            authority.skip(name)
            notes.step(authority.where(name), "are the service's own", "keybearer serve --public-url URL.")
    secret = authority.text("secretName")
    if secret is None or OBJECT_NAME.fullmatch(secret) is None:
        notes.left_out(
            authority.where("secretName"),
            "names no Secret with the key of the authority",
            "keybearer authorities create NAME. Let clients trust both until the last old certificate has ended.",
        )
        return
    kind, namespace = issuer
    where = CLUSTER_NAMESPACE if kind == "ClusterIssuer" else namespace
    notes.step(
        authority.path,
        f"needs an authority of the service below the one in Secret {secret}, and the profile {place.profile}",
        "For bash and OpenSSL 3. Clients go on trusting the authority that they trust today. Give fewer days than it "
        "has left. If its path length is 0, it can sign no other: make a root with keybearer authorities create.",
        _commands(secret, where if OBJECT_NAME.fullmatch(where) else "", place),
    )


def _commands(secret: str, namespace: str, place: IssuerPlace) -> list[str]:
    name = place.profile
    in_project = ["--project", place.project_slug] if place.project_slug is not None else []

    def ours(*words: str) -> str:
        return shlex.join(["keybearer", *words, *in_project])

    def fetch(key: str) -> str:
        words = ["kubectl", *(["-n", namespace] if namespace else []), "get", "secret", secret]
        return f"{shlex.join([*words, '-o', f'jsonpath={{.data.{key}}}'])} | base64 -d"

    return [
        ours("authorities", "create", name, "--signed-elsewhere", "--path-length", "0"),
        f"{ours('authorities', 'show', name, '--csr')} > {name}.csr",
        f"{fetch(_CERTIFICATE)} > {name}-ca.pem",
        (
            f"openssl x509 -req -in {name}.csr -CA {name}-ca.pem -CAkey <({fetch(_KEY)}) -days {_DAYS} "
            f"-copy_extensions copyall -out {name}.pem"
        ),
        ours("authorities", "certify", name, "--certificate", f"{name}.pem", "--chain", f"{name}-ca.pem"),
        ours("policies", "create", name),
        ours("profiles", "create", name, "--policy", name, "--ca", name, "--ttl-days", str(_LEAF_DAYS)),
    ]
