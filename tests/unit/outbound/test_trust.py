"""keybearer.outbound.trust."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime

import pytest

from keybearer.outbound.trust import trust, trust_as_well
from tools.controlplane.certificates import create_identity


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> str:
    return create_identity(tmp_path_factory.mktemp("ca"), datetime.now(UTC)).ca_certificate.read_text()


@pytest.mark.parametrize("beside", ["", "# Subject: CN=Főtanúsítvány\n", "\U000459be\n"])
def test_certificates_are_trusted_whatever_stands_beside_them(pem: str, beside: str) -> None:
    context = trust(beside + pem)

    assert context.cert_store_stats()["x509_ca"] == 1
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_certificates_beside_the_systems_are_read_once(pem: str) -> None:
    context = trust_as_well(pem)

    assert context.cert_store_stats()["x509_ca"] == trust("").cert_store_stats()["x509_ca"] + 1
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert trust_as_well(pem) is context


@pytest.mark.parametrize(
    "text", ["cnry-no certificate", "é", "+\U000459be\ud9c6", "\0", "-----BEGIN CERTIFICATE-----"]
)
def test_a_text_without_certificates_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="holds no PEM certificate"):
        trust(text)
