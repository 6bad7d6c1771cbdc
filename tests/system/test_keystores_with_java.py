"""Java's own tool opens what is written for Java."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.keystores import Keystore, Pkcs12Encryption, jks_of, pkcs12_of
from support.system_tools import SystemTool
from support.x509_house import NOW, key_of, root, template
from support.x509_shapes import ALGORITHMS

pytestmark = pytest.mark.system

_PASSWORD = "changeit"


def keytool(program: str, *arguments: str | Path) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def with_key(algorithm: KeyAlgorithm) -> Keystore:
    below = root(algorithm).below()
    return Keystore("web", (below.issue(template(), key_of(algorithm)), *below.chain), key_of(algorithm))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_key_and_chain_of_a_java_key_store_are_taken_out(
    system_tool: SystemTool, tmp_path: Path, algorithm: KeyAlgorithm
) -> None:
    program = system_tool("keytool")
    (tmp_path / "keystore.jks").write_bytes(jks_of(with_key(algorithm), _PASSWORD, NOW))

    listed = keytool(program, "-list", "-v", "-keystore", tmp_path / "keystore.jks", "-storepass", _PASSWORD)
    # Java decrypts the key here, and encrypts it anew.
    keytool(
        program, "-importkeystore", "-noprompt", "-srckeystore", tmp_path / "keystore.jks", "-srcstorepass",
        _PASSWORD, "-destkeystore", tmp_path / "copy.p12", "-deststoretype", "pkcs12", "-deststorepass", _PASSWORD,
    )  # fmt: skip

    assert "Alias name: web" in listed
    assert "Entry type: PrivateKeyEntry" in listed
    assert "Certificate chain length: 3" in listed


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("truststore.jks", lambda store: jks_of(store, _PASSWORD, NOW)),
        ("truststore.p12", lambda store: pkcs12_of(store, _PASSWORD)),
        ("legacy.p12", lambda store: pkcs12_of(store, _PASSWORD, Pkcs12Encryption.LEGACY)),
    ],
    ids=["jks", "pkcs12", "legacy pkcs12"],
)
def test_certificates_of_a_trust_store_are_trusted(
    system_tool: SystemTool, tmp_path: Path, name: str, data: object
) -> None:
    program = system_tool("keytool")
    store = Keystore("ca", (root().certificate, root(name="Other").certificate))
    assert callable(data)
    (tmp_path / name).write_bytes(data(store))

    listed = keytool(program, "-list", "-v", "-keystore", tmp_path / name, "-storepass", _PASSWORD)

    assert listed.count("Entry type: trustedCertEntry") == 2
    assert "Alias name: ca-1" in listed


@pytest.mark.parametrize("encryption", Pkcs12Encryption)
def test_a_pkcs12_key_store_opens(
    system_tool: SystemTool, tmp_path: Path, encryption: Pkcs12Encryption
) -> None:
    program = system_tool("keytool")
    store = with_key(KeyAlgorithm.EC_P256)
    (tmp_path / "keystore.p12").write_bytes(pkcs12_of(store, _PASSWORD, encryption))

    listed = keytool(program, "-list", "-v", "-keystore", tmp_path / "keystore.p12", "-storepass", _PASSWORD)

    assert "Entry type: PrivateKeyEntry" in listed
    assert "Certificate chain length: 3" in listed
