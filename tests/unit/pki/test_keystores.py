"""Keystores, and what Java's own tool wrote.

`tests/system/test_keystores_with_java.py` has Java read those that are made here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.certificates import load_certificates
from keybearer.pki.errors import KeystoreError
from keybearer.pki.jks import JksEntry, write_jks
from keybearer.pki.keys import is_supported, load_private_key
from keybearer.pki.keystores import Keystore, Pkcs12Encryption, jks_of, pkcs12_of
from support.java_keystores import read_jks
from support.x509_house import NOW, key_of, root, template
from support.x509_shapes import ALGORITHMS

_OF_JAVA = Path(__file__).resolve().parents[2] / "corpus" / "keystores"
_PASSWORD = "pässwörd-1"


def with_key(algorithm: KeyAlgorithm = KeyAlgorithm.EC_P256) -> Keystore:
    below = root(algorithm).below()
    leaf = below.issue(template(), key_of(algorithm))
    return Keystore("certificate", (leaf, *below.chain), key_of(algorithm))


def of_trust() -> Keystore:
    return Keystore("ca", (root().certificate, root(name="Other").certificate))


class TestPkcs12:
    @pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
    @pytest.mark.parametrize("encryption", Pkcs12Encryption)
    def test_key_and_chain_are_read_again(
        self, algorithm: KeyAlgorithm, encryption: Pkcs12Encryption
    ) -> None:
        store = with_key(algorithm)

        read = pkcs12.load_pkcs12(pkcs12_of(store, _PASSWORD, encryption), _PASSWORD.encode())

        leaf, *chain = load_certificates(store.certificates)
        assert read.cert is not None
        assert (read.cert.certificate, read.cert.friendly_name) == (leaf, b"certificate")
        assert [one.certificate for one in read.additional_certs] == chain
        assert read.key is not None
        assert read.key.public_key() == leaf.public_key()

    def test_trusted_certificates_each_have_a_name(self) -> None:
        store = of_trust()

        read = pkcs12.load_pkcs12(pkcs12_of(store, _PASSWORD), _PASSWORD.encode())

        assert read.key is None
        assert [(one.certificate, one.friendly_name) for one in read.additional_certs] == list(
            zip(load_certificates(store.certificates), [b"ca", b"ca-1"], strict=True)
        )

    def test_a_post_quantum_key_cannot_be_kept_so(self) -> None:
        if not is_supported(KeyAlgorithm.ML_DSA_44):
            pytest.skip("the linked library has no ML-DSA")

        with pytest.raises(KeystoreError, match="no PKCS#12 store can be made"):
            pkcs12_of(with_key(KeyAlgorithm.ML_DSA_44), _PASSWORD)


class TestJks:
    def test_a_store_of_java_is_read(self) -> None:
        """Made by keytool 17: `keytool -genkeypair -alias one ...`, `-importcert -alias trusted ...`."""
        entries = {one.alias: one for one in read_jks((_OF_JAVA / "java.jks").read_bytes(), "changeit")}

        assert set(entries) == {"one", "trusted"}
        key, leaf = entries["one"].key, x509.load_der_x509_certificate(entries["one"].certificates[0])
        assert key is not None
        assert load_private_key(key).public_key.key == leaf.public_key()
        assert leaf.subject.rfc4514_string() == "CN=made by Java"
        assert entries["trusted"].key is None

    @pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
    def test_key_and_chain_are_read_again(self, algorithm: KeyAlgorithm) -> None:
        store = with_key(algorithm)
        assert store.key is not None

        (entry,) = read_jks(jks_of(store, _PASSWORD, NOW), _PASSWORD)

        assert entry == JksEntry("certificate", tuple(one.der for one in store.certificates), store.key.der())

    def test_names_are_in_lower_case_as_java_has_them(self) -> None:
        (entry,) = read_jks(write_jks([JksEntry("Ärger", (b"x",))], _PASSWORD, NOW), _PASSWORD)

        assert entry.alias == "ärger"

    def test_the_key_is_not_there_as_it_is(self) -> None:
        store = with_key()
        assert store.key is not None

        # RFC 5915: of a key on P-256 the number that is secret follows 36 octets of framing.
        assert store.key.der()[36:68] not in jks_of(store, _PASSWORD, NOW)

    def test_it_doesnt_show(self) -> None:
        assert "secret-key" not in repr(JksEntry("a", (), b"secret-key"))

    @pytest.mark.parametrize("make", [pkcs12_of, lambda store, password: jks_of(store, password, NOW)])
    def test_no_store_is_made_without_a_password(self, make: object) -> None:
        assert callable(make)

        with pytest.raises(KeystoreError, match="needs a password"):
            make(with_key(), "")
