"""The Secrets of a CertificateProfile as they should be: those of certificates, and the one of keys. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.json_reading import mapping_of, text_of
from keybearer.controllers.objects import ObservedObject, TargetKey
from keybearer.controllers.target.desired import (
    MANAGED_LABEL,
    OWNER_LABEL,
    DesiredTarget,
    encoded_data,
    fingerprint_of_body,
    owner_reference,
)

__all__ = [
    "CA_KEY",
    "CERTIFICATE_KEY",
    "CERTIFICATE_LABEL",
    "PRIVATE_KEY",
    "Origins",
    "build_certificate_secret",
    "build_keyring_secret",
    "origins_of",
    "secret_type",
]

CERTIFICATE_KEY = "tls.crt"
PRIVATE_KEY = "tls.key"
CA_KEY = "ca.crt"

CERTIFICATE_LABEL = "keybearer.dev/certificate"
"""Names the certificate of the profile."""
_CERTIFICATE_ID = "keybearer.dev/certificate-id"
_REVISION = "keybearer.dev/revision"
_SPEC = "keybearer.dev/spec"
_APP_LABELS = {"app.kubernetes.io/managed-by": "keybearer"}
_TLS, _OPAQUE = "kubernetes.io/tls", "Opaque"


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the certificate of a Secret comes from, so that a status that was lost can be found out from it.

    Attributes:
        certificate_id: in the service.
        revision: of the attempt that brought it.
        digest: of what was asked for.
    """

    certificate_id: str | None
    revision: int
    digest: str


def build_certificate_secret(
    owner: ObservedObject,
    name: str,
    certificate: str,
    origins: Origins,
    data: Mapping[str, bytes],
    fingerprinter: Fingerprinter,
) -> DesiredTarget:
    """Return the Secret of a certificate.

    Args:
        owner: the CertificateProfile.
        name: of the Secret.
        certificate: what the profile calls it.
        origins: of the certificate.
        data: what it holds.
        fingerprinter: makes the keyed fingerprints.
    """
    annotations: dict[str, JsonValue] = {_REVISION: str(origins.revision), _SPEC: origins.digest}
    if origins.certificate_id is not None:
        annotations[_CERTIFICATE_ID] = origins.certificate_id
    return _build(
        owner,
        name,
        secret_type(has_key=PRIVATE_KEY in data),
        data,
        {CERTIFICATE_LABEL: certificate},
        annotations,
        fingerprinter,
    )


def secret_type(*, has_key: bool) -> str:
    """Return the type of the Secret of a certificate."""
    return _TLS if has_key else _OPAQUE


def build_keyring_secret(
    owner: ObservedObject, data: Mapping[str, bytes], fingerprinter: Fingerprinter
) -> DesiredTarget:
    """Return the Secret that holds the keys."""
    return _build(owner, keyring_name(owner.key.name), _OPAQUE, data, {}, {}, fingerprinter)


def origins_of(body: Mapping[str, JsonValue], certificate: str) -> Origins | None:
    """Return what a Secret says of where it comes from; None where it isn't one of that certificate."""
    meta = mapping_of(body.get("metadata"))
    annotations = mapping_of(meta.get("annotations"))
    revision = text_of(annotations.get(_REVISION))
    if (
        text_of(mapping_of(meta.get("labels")).get(CERTIFICATE_LABEL)) != certificate
        or not revision.isdecimal()
    ):
        return None
    return Origins(
        text_of(annotations.get(_CERTIFICATE_ID)) or None, int(revision), text_of(annotations.get(_SPEC))
    )


def _build(
    owner: ObservedObject,
    name: str,
    secret_type: str,
    data: Mapping[str, bytes],
    labels: Mapping[str, str],
    annotations: dict[str, JsonValue],
    fingerprinter: Fingerprinter,
) -> DesiredTarget:
    key = TargetKey("Secret", owner.key.namespace, name)
    metadata: dict[str, JsonValue] = {
        "name": key.name,
        "namespace": key.namespace,
        "labels": {**_APP_LABELS, **labels, MANAGED_LABEL: "true", OWNER_LABEL: owner.uid},
        "ownerReferences": [owner_reference(owner.key, owner.uid)],
    }
    if annotations:
        metadata["annotations"] = annotations
    body: dict[str, JsonValue] = {
        "apiVersion": "v1",
        "kind": key.kind,
        "metadata": metadata,
        "type": secret_type,
        "data": {part: base64.b64encode(value).decode() for part, value in data.items()},
    }
    return DesiredTarget(
        key=key,
        body=body,
        keys=tuple(sorted(data)),
        fingerprint=fingerprint_of_body(key.kind, body, fingerprinter),
        data_fingerprint=fingerprinter.of_mappings(
            "data", (key.kind, secret_type), encoded_data(key.kind, body)
        ),
    )
