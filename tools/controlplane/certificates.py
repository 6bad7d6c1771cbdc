"""Keys and certificates of one control plane: made at its start, EC P-256, thrown away at its end."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tools.controlplane.ports import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

__all__ = ["Authority", "Identity", "KeyPair", "create_identity"]

# Longer than a demo is left running, shorter than a copied kubeconfig should be of use.
_VALIDITY = timedelta(days=30)
# Tests that turn the clock back a little still find the certificates valid.
_BACKDATING = timedelta(hours=1)

_SERVING_NAMES = (
    x509.DNSName("localhost"),
    x509.DNSName("kubernetes"),
    x509.DNSName("kubernetes.default"),
    x509.DNSName("kubernetes.default.svc"),
    x509.DNSName("kubernetes.default.svc.cluster.local"),
    x509.IPAddress(ipaddress.IPv4Address(LOOPBACK)),
    # Of the `kubernetes` Service, the first of its range: where pods reach it.
    x509.IPAddress(ipaddress.IPv4Address("10.96.0.1")),
)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Two PEM files: a certificate (for service accounts a public key) and its private key, mode 0600."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Identity:
    """Everything that parties of one cluster prove themselves with.

    Attributes:
        ca_certificate: PEM file of the CA of servers and clients. Its key was never written.
        server: Of the API server, for 127.0.0.1, localhost and the names of the `kubernetes` Service.
        admin: Client in the group `system:masters`, above all authorization.
        controller_manager: Client with the user name that the built-in roles are bound to.
        service_accounts: Signs and verifies service-account tokens.
        authority: Issues certificates of further clients.
    """

    ca_certificate: Path
    server: KeyPair
    admin: KeyPair
    controller_manager: KeyPair
    service_accounts: KeyPair
    authority: Authority


def create_identity(directory: Path, now: datetime, address: str = LOOPBACK) -> Identity:
    """New files in the directory, valid for 30 days from `now` (aware).

    Args:
        directory: Private.
        now: When this is.
        address: Where the API server listens, besides the names that it has everywhere.
    """
    authority = Authority(directory, now)
    names = (*_SERVING_NAMES, x509.IPAddress(ipaddress.IPv4Address(address)))
    return Identity(
        ca_certificate=authority.certificate_file,
        server=authority.issue(
            "server", _name("kube-apiserver"), ExtendedKeyUsageOID.SERVER_AUTH, tuple(dict.fromkeys(names))
        ),
        admin=authority.issue_client("admin", "keybearer-admin", "system:masters"),
        controller_manager=authority.issue_client("controller-manager", "system:kube-controller-manager"),
        service_accounts=_signing_key(directory),
        authority=authority,
    )


class Authority:
    """A CA whose key exists only in this object."""

    def __init__(self, directory: Path, now: datetime) -> None:
        self._directory = directory
        self._now = now
        self._key = _new_key()
        self._subject = _name("keybearer-local-control-plane")
        self._identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        certificate = (
            self._builder(self._subject, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(ca=True), critical=True)
            .add_extension(self._identifier, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate_file = directory / "ca.crt"
        _write_private(self.certificate_file, certificate.public_bytes(Encoding.PEM))

    def issue_client(self, stem: str, user: str, *groups: str) -> KeyPair:
        """A leaf by which the API server takes its holder for that user of these groups."""
        return self.issue(stem, _name(user, *groups), ExtendedKeyUsageOID.CLIENT_AUTH)

    def issue(
        self,
        stem: str,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        names: Sequence[x509.GeneralName] = (),
    ) -> KeyPair:
        """A leaf in the files `<stem>.crt` and `<stem>.key`."""
        key = _new_key()
        builder = (
            self._builder(subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(ca=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            # Python 3.13 verifies strictly by RFC 5280, which asks for this one (section 4.2.1.1).
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self._identifier),
                critical=False,
            )
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        pair = KeyPair(self._directory / f"{stem}.crt", self._directory / f"{stem}.key")
        _write_private(pair.certificate, certificate.public_bytes(Encoding.PEM))
        _write_private(pair.key, _private_pem(key))
        return pair

    def _builder(self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return x509.CertificateBuilder(
            issuer_name=self._subject,
            subject_name=subject,
            public_key=public_key,
            serial_number=x509.random_serial_number(),
            not_valid_before=self._now - _BACKDATING,
            not_valid_after=self._now + _VALIDITY,
        )


def _signing_key(directory: Path) -> KeyPair:
    key = _new_key()
    pair = KeyPair(directory / "service-accounts.pub", directory / "service-accounts.key")
    public_pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    _write_private(pair.certificate, public_pem)
    _write_private(pair.key, _private_pem(key))
    return pair


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _name(common_name: str, *organizations: str) -> x509.Name:
    """The API server reads the common name as user and the organizations as groups."""
    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _key_usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not ca,
        key_cert_sign=ca,
        crl_sign=ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
