"""Certificates that another authority made for one of ours: taken only if it can sign with them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from keybearer.base.certificate_terms import KeyAlgorithm, KeyUsage
from keybearer.domain.certificates.authority_signing import imported_certificate
from keybearer.domain.errors import InvalidError
from keybearer.pki.usages import encoded_key_usages
from support.x509_house import NOW, key_of, root

OURS = key_of(KeyAlgorithm.EC_P256, "ours")


def signed(*usages: KeyUsage, is_ca: bool = True) -> tuple[str, str]:
    """Return what a careless authority signed for our key, and itself, PEM."""
    above = root(name="Careless")
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Ours")]))
        .issuer_name(above.issuer.own.subject)
        .public_key(OURS.public_key.key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=100))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
    )
    if usages:
        builder = builder.add_extension(encoded_key_usages(frozenset(usages)), critical=True)
    made = builder.sign(above.issuer.key.key, SHA256())
    return made.public_bytes(Encoding.PEM).decode(), above.certificate.pem


def imported(pair: tuple[str, str]) -> str:
    return imported_certificate("a", OURS.public_key, *pair, None, 1, NOW).serial_number


@pytest.mark.parametrize(
    "usages", [(), (KeyUsage.KEY_CERT_SIGN,), (KeyUsage.KEY_CERT_SIGN, KeyUsage.CRL_SIGN)], ids=str
)
def test_one_that_may_sign_is_taken(usages: tuple[KeyUsage, ...]) -> None:
    assert imported(signed(*usages))


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(signed(KeyUsage.CRL_SIGN), id="lists only"),
        pytest.param(signed(KeyUsage.DIGITAL_SIGNATURE, is_ca=False), id="a leaf"),
    ],
)
def test_one_that_may_sign_no_certificates_is_refused(given: tuple[str, str]) -> None:
    with pytest.raises(InvalidError, match="may sign certificates"):
        imported(given)
