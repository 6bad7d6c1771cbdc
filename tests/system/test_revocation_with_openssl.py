"""What a running service tells of revoked certificates, as OpenSSL asks for it and judges it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.pki_house import PKI, Pki, pki_of
from support.service_fixtures import ServiceProcess, start_service
from support.system_tools import SystemTool

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    service = start_service(
        tmp_path_factory.mktemp("service") / "data", "--public-url", "http://pki.example.com"
    )
    yield service
    service.stop()


@pytest.fixture
def pki(running: ServiceProcess) -> Pki:
    return pki_of(running)


@pytest.fixture
def openssl(system_tool: SystemTool) -> str:
    return system_tool("openssl")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, check=False, text=True)


class Issued:
    """A leaf below an intermediate below a root, as files."""

    def __init__(self, pki: Pki, place: Path, algorithm: str) -> None:
        self._pki, self._place = pki, place
        self.root_id = pki.authority(keyAlgorithm=algorithm)["id"]
        self.middle = pki.intermediate(self.root_id, keyAlgorithm=algorithm)
        profile = pki.profile(caId=self.middle["id"])
        issued: dict[str, Any] = pki.issue(profile["id"])["certificate"]
        self.id = issued["certificateId"]
        root = pki.call("GET", f"/ca/internal/{self.root_id}/certificate")["certificate"]
        self.leaf = self.write("leaf.pem", issued["certificate"])
        self.issuer = self.write("issuer.pem", issued["issuingCaCertificate"])
        self.root = self.write("root.pem", root)

    def write(self, name: str, text: str) -> Path:
        place = self._place / name
        place.write_text(text, encoding="utf-8")
        return place

    def lists(self) -> Path:
        """Fetch the lists of both authorities."""
        shown = [
            self._pki.call("GET", f"/ca/internal/{one}/crls")[0]["crl"]
            for one in (self.root_id, self.middle["id"])
        ]
        return self.write("lists.pem", "".join(shown))

    def verified(self, openssl: str) -> subprocess.CompletedProcess[str]:
        """Ask for the whole chain, with lists."""
        return run(
            openssl, "verify", "-x509_strict", "-crl_check_all", "-CAfile", self.root, "-untrusted", self.issuer,
            "-CRLfile", self.lists(), self.leaf,
        )  # fmt: skip


@pytest.fixture(params=["EC_prime256v1", "EC_secp384r1", "RSA_2048"])
def issued(openssl: str, pki: Pki, tmp_path: Path, request: pytest.FixtureRequest) -> Issued:
    assert openssl
    return Issued(pki, tmp_path, request.param)


def test_a_chain_is_good_until_a_list_names_the_leaf(openssl: str, pki: Pki, issued: Issued) -> None:
    before = issued.verified(openssl)
    assert before.returncode == 0, before.stderr
    pki.call("POST", f"/certificates/{issued.id}/revoke", json={"revocationReason": "KEY_COMPROMISE"})
    after = issued.verified(openssl)
    assert after.returncode != 0
    assert "error 23 at 0 depth lookup: certificate revoked" in after.stderr


def test_a_chain_is_good_until_a_list_names_the_authority(openssl: str, pki: Pki, issued: Issued) -> None:
    own = issued.middle["configuration"]["activeCaCertId"]
    pki.call("POST", f"/ca/internal/{issued.middle['id']}/certificates/{own}/revoke")
    after = issued.verified(openssl)
    assert "error 23 at 1 depth lookup: certificate revoked" in after.stderr


def test_a_list_is_read_and_its_signature_believed(
    openssl: str, running: ServiceProcess, issued: Issued
) -> None:
    own = issued.middle["configuration"]["activeCaCertId"]
    der = issued.root.with_name("list.der")
    der.write_bytes(running.client().get(f"{PKI}/crl/{own}").content)
    read = run(openssl, "crl", "-inform", "DER", "-in", der, "-CAfile", issued.issuer, "-noout", "-text")
    assert "verify OK" in read.stderr
    assert "X509v3 CRL Number" in read.stdout


@pytest.mark.parametrize("digest", ["-sha1", "-sha256"])
@pytest.mark.parametrize("nonce", ["-nonce", "-no_nonce"])
def test_the_running_service_answers_about_one_certificate(
    openssl: str, running: ServiceProcess, pki: Pki, issued: Issued, nonce: str, digest: str
) -> None:
    own = issued.middle["configuration"]["activeCaCertId"]

    def asked() -> subprocess.CompletedProcess[str]:
        return run(
            openssl, "ocsp", digest, "-issuer", issued.issuer, "-cert", issued.leaf, nonce,
            "-url", f"{running.url}{PKI}/ocsp/{own}", "-CAfile", issued.root, "-verify_other", issued.issuer,
        )  # fmt: skip

    before = asked()
    assert "Response verify OK" in before.stderr, before.stderr
    assert f"{issued.leaf}: good" in before.stdout
    assert "WARNING" not in before.stderr
    pki.call("POST", f"/certificates/{issued.id}/revoke", json={"revocationReason": "SUPERSEDED"})
    after = asked()
    assert f"{issued.leaf}: revoked" in after.stdout
    assert "Reason: superseded" in after.stdout
