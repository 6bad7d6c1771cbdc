"""Objects that ask for certificates, as their clients make them, and the keys behind them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import NameOID

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, NameType
from keybearer.pki.keys import PrivateKey, generate_private_key
from keybearer.pki.names import Subject, alternative_name
from keybearer.pki.signing_requests import build_signing_request
from tools.local.kube_api import Body

__all__ = [
    "SERVER_USAGES",
    "bare_key_of_pod",
    "certificate_request",
    "ed25519_request_pem",
    "key",
    "pod_request",
    "request_pem",
    "signer_of",
    "signing_request",
]

_NOTHING: Mapping[str, object] = MappingProxyType({})
SERVER_USAGES = ("digital signature", "server auth")
_POD_UID = "8b2b0f3e-1c11-4bb5-9d36-6d3a3a4d2c10"


def key(algorithm: KeyAlgorithm = KeyAlgorithm.EC_P256) -> PrivateKey:
    """One key of each kind serves all tests of a process."""
    return _key(algorithm)


def request_pem(
    *hosts: str,
    usages: frozenset[KeyUsage] = frozenset(),
    extended: tuple[ExtendedKeyUsage, ...] = (),
    is_ca: bool = False,
    algorithm: KeyAlgorithm = KeyAlgorithm.EC_P256,
) -> str:
    """A signing request for these hosts; without any, it has no name at all."""
    names = [alternative_name(NameType.DNS_NAME, host) for host in hosts]
    subject = Subject.of(hosts[0]) if hosts else Subject()
    return build_signing_request(
        key(algorithm),
        subject,
        alternative_names=names,
        key_usages=usages,
        extended_key_usages=extended,
        is_ca=is_ca,
    )


def ed25519_request_pem(*hosts: str) -> str:
    """A signing request as `request_pem` makes it, of a key on a curve of Edwards': Kubernetes takes them."""
    names = [x509.NameAttribute(NameOID.COMMON_NAME, host) for host in hosts[:1]]
    builder = x509.CertificateSigningRequestBuilder(x509.Name(names))
    if hosts:
        alternative = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
        builder = builder.add_extension(alternative, critical=False)
    request = builder.sign(ed25519.Ed25519PrivateKey.generate(), None)
    return request.public_bytes(serialization.Encoding.PEM).decode()


def bare_key_of_pod() -> Mapping[str, str]:
    """What the spec of a pod's request has in place of a stub, as kubelets before 1.36 sent it."""
    own = key().key
    assert isinstance(own, ec.EllipticCurvePrivateKey)
    proof = own.sign(_POD_UID.encode(), ec.ECDSA(hashes.SHA256()))
    return {
        "pkixPublicKey": base64.b64encode(key().public_key.der).decode(),
        "proofOfPossession": base64.b64encode(proof).decode(),
    }


def signer_of(namespace: str, profile: str) -> str:
    """The signer's name of a profile, spelled out."""
    return f"certificateprofiles.keybearer.dev/{namespace}.{profile}"


def certificate_request(
    namespace: str,
    name: str,
    pem: str,
    *,
    profile: str,
    status: Body | None = None,
    spec: Mapping[str, object] = _NOTHING,
) -> Body:
    """A CertificateRequest of cert-manager; `spec` adds to it, or changes it."""
    reference = {"group": "keybearer.dev", "kind": "CertificateProfile", "name": profile}
    return _object(
        "cert-manager.io/v1",
        "CertificateRequest",
        {"name": name, "namespace": namespace},
        {"issuerRef": reference, "request": _encoded(pem), "usages": list(SERVER_USAGES), **spec},
        status,
    )


def signing_request(
    name: str, pem: str, *, signer: str, status: Body | None = None, spec: Mapping[str, object] = _NOTHING
) -> Body:
    """A CertificateSigningRequest of Kubernetes; `spec` adds to it, or changes it."""
    return _object(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        {"name": name},
        {"signerName": signer, "request": _encoded(pem), "usages": list(SERVER_USAGES), **spec},
        status,
    )


def pod_request(
    namespace: str,
    name: str,
    pem: str,
    *,
    signer: str,
    spec: Mapping[str, object] = _NOTHING,
    version: str = "v1beta1",
) -> Body:
    """A PodCertificateRequest, as a kubelet makes it; `spec` adds to it, or changes it (None leaves a field out)."""
    der = x509.load_pem_x509_csr(pem.encode()).public_bytes(serialization.Encoding.DER)
    whole: Body = {
        "signerName": signer,
        "podName": "web-0",
        "podUID": _POD_UID,
        "serviceAccountName": "default",
        "serviceAccountUID": "5d1b8f6b-6d0e-4b0e-8d8e-0f6f5b1d0a11",
        "nodeName": "node-1",
        "nodeUID": "2f6c1a1e-9a4c-4b39-8b0c-3d1c7d0a9b12",
        "maxExpirationSeconds": 86_400,
        "stubPKCS10Request": base64.b64encode(der).decode(),
        **spec,
    }
    given = {field: value for field, value in whole.items() if value is not None}
    meta: Body = {"name": name, "namespace": namespace}
    return _object(f"certificates.k8s.io/{version}", "PodCertificateRequest", meta, given, None)


def _object(version: str, kind: str, meta: Body, spec: Body, status: Body | None) -> Body:
    whole: Body = {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}
    return whole if status is None else {**whole, "status": status}


def _encoded(pem: str) -> str:
    return base64.b64encode(pem.encode()).decode()


@cache
def _key(algorithm: KeyAlgorithm) -> PrivateKey:
    return generate_private_key(algorithm)
