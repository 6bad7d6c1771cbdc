"""Every shape of certificate before OpenSSL, strictly; what OpenSSL asks for, signed."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm, RevocationReason
from keybearer.pki.certificates import Certificate, certificate_of, text_of_certificates
from keybearer.pki.keystores import Keystore, Pkcs12Encryption, pkcs12_of
from keybearer.pki.ocsp import Standing, ocsp_answer, parse_ocsp_question
from keybearer.pki.revocation_lists import Revocation, build_revocation_list, revocation_list_text
from keybearer.pki.signing_requests import parse_signing_request
from support.system_tools import SystemTool
from support.x509_house import NOW, certified, key_of, root, template
from support.x509_shapes import ALGORITHMS, NAMES, SUBJECTS, Shape, issued_shape

pytestmark = pytest.mark.system

_AT = ["-attime", str(int(NOW.timestamp()))]


@pytest.fixture
def openssl(system_tool: SystemTool) -> str:
    return system_tool("openssl")


def run(*command: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def written(place: Path, *certificates: Certificate) -> Path:
    place.write_text(text_of_certificates(certificates), encoding="utf-8")
    return place


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
@pytest.mark.parametrize("by", ["root", "intermediate"])
def test_a_certificate_of_every_shape_is_verified_strictly(
    openssl: str, tmp_path: Path, algorithm: KeyAlgorithm, by: str
) -> None:
    refused = []
    for names in NAMES:
        for subject in SUBJECTS:
            shape = Shape(algorithm, by, names, subject)
            leaf, *authorities = issued_shape(shape)
            between: list[str | Path] = []
            if authorities[1:]:
                between = ["-untrusted", written(tmp_path / "chain.pem", *authorities[:-1])]
            verified = run(
                openssl, "verify", "-x509_strict", "-policy_check", "-purpose", "sslserver", *_AT,
                "-CAfile", written(tmp_path / "root.pem", authorities[-1]),
                *between, written(tmp_path / "leaf.pem", leaf),
            )  # fmt: skip
            if verified.returncode:
                refused.append((str(shape), verified.stderr.decode()))

    assert refused == []


def test_a_stranger_is_not_verified(openssl: str, tmp_path: Path) -> None:
    leaf = certified(root())
    other = root(name="Other").certificate

    verified = run(
        openssl, "verify", "-x509_strict", *_AT, "-CAfile", written(tmp_path / "root.pem", other),
        written(tmp_path / "leaf.pem", leaf),
    )  # fmt: skip

    assert verified.returncode != 0


@pytest.mark.parametrize(
    "options",
    [
        ["-newkey", "rsa:2048"],
        ["-newkey", "rsa:3072", "-sha512"],
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384", "-sha384"],
        [
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-521",
            "-addext",
            "extendedKeyUsage=serverAuth,clientAuth",
        ],
        [
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-addext",
            "keyUsage=critical,digitalSignature",
        ],
    ],
    ids=" ".join,
)
def test_what_openssl_asks_for_is_signed_and_belongs_to_its_key(
    openssl: str, tmp_path: Path, options: list[str]
) -> None:
    asked = run(
        openssl, "req", "-new", "-nodes", "-keyout", tmp_path / "key.pem", "-subj", "/O=Example/CN=www.example.com",
        "-addext", "subjectAltName=DNS:www.example.com,IP:10.0.0.1,email:a@example.com", *options,
    )  # fmt: skip
    request = parse_signing_request(asked.stdout.decode())
    by = root()
    issued = certificate_of(
        by.issuer.issue(template(request.subject, names=request.alternative_names), request.public_key).der
    )

    of_key = run(openssl, "pkey", "-in", tmp_path / "key.pem", "-pubout")
    of_certificate = run(openssl, "x509", "-pubkey", "-noout", stdin=issued.pem.encode())

    assert of_key.stdout == of_certificate.stdout != b""
    assert request.alternative_names == issued.alternative_names


def test_a_revoked_certificate_is_found_in_the_list(openssl: str, tmp_path: Path) -> None:
    by = root()
    leaf, other = certified(by), certified(by)
    der = build_revocation_list(
        by.issuer,
        [Revocation(leaf.serial_number, NOW, RevocationReason.KEY_COMPROMISE)],
        number=1,
        this_update=NOW,
        next_update=NOW + timedelta(days=7),
    )
    (tmp_path / "crl.pem").write_text(revocation_list_text(der), encoding="utf-8")
    trusted = written(tmp_path / "root.pem", by.certificate)

    judged = [
        run(
            openssl, "verify", "-x509_strict", "-crl_check", *_AT, "-CAfile", trusted, "-CRLfile",
            tmp_path / "crl.pem", written(tmp_path / "leaf.pem", certificate),
        )
        for certificate in (leaf, other)
    ]  # fmt: skip

    assert judged[0].returncode != 0
    assert b"certificate revoked" in judged[0].stderr
    assert judged[1].returncode == 0


@pytest.mark.parametrize("nonce", ["-nonce", "-no_nonce"])
def test_an_answer_about_a_certificate_is_believed(openssl: str, tmp_path: Path, nonce: str) -> None:
    by = root()
    leaf = certified(by)
    issuer, subject = written(tmp_path / "root.pem", by.certificate), written(tmp_path / "leaf.pem", leaf)
    asked = tmp_path / "question.der"
    run(openssl, "ocsp", "-issuer", issuer, "-cert", subject, nonce, "-reqout", asked)
    question = parse_ocsp_question(asked.read_bytes())
    answer = ocsp_answer(
        by.issuer, question, Standing.GOOD, this_update=NOW, next_update=NOW + timedelta(hours=1)
    )
    (tmp_path / "answer.der").write_bytes(answer)

    # Without -no_nonce, OpenSSL would put another nonce beside that of the question.
    believed = run(
        openssl, "ocsp", "-no_nonce", "-issuer", issuer, "-cert", subject, "-reqin",
        asked, "-respin", tmp_path / "answer.der", "-CAfile", issuer, *_AT,
        "-validity_period", str(10**10),
    )  # fmt: skip

    assert b"Response verify OK" in believed.stderr
    assert b": good" in believed.stdout


@pytest.mark.parametrize("encryption", Pkcs12Encryption)
def test_a_pkcs12_store_opens(openssl: str, tmp_path: Path, encryption: Pkcs12Encryption) -> None:
    below = root().below()
    leaf = certified(below)
    store = Keystore("certificate", (leaf, *below.chain), key_of(KeyAlgorithm.EC_P256))
    (tmp_path / "store.p12").write_bytes(pkcs12_of(store, "changeit", encryption))

    opened = run(
        openssl, "pkcs12", "-in", tmp_path / "store.p12", "-passin", "pass:changeit", "-nodes",
        *(["-legacy"] if encryption is Pkcs12Encryption.LEGACY else []),
    )  # fmt: skip

    assert opened.returncode == 0
    assert opened.stdout.count(b"BEGIN CERTIFICATE") == 3
    assert opened.stdout.count(b"BEGIN PRIVATE KEY") == 1
