from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import KeyAlgorithm, SignatureAlgorithm
from keybearer.pki.errors import MalformedError, PkiError, UnsupportedAlgorithmError
from keybearer.pki.keys import (
    default_signature_algorithm,
    generate_private_key,
    is_supported,
    load_private_key,
    load_public_key,
    require_supported,
    signature_hash,
)
from support.rows import each_row
from support.x509_house import key_of

_CLASSIC = [one for one in KeyAlgorithm if one.is_rsa or one.is_elliptic]
_ML_DSA = [one for one in KeyAlgorithm if one.value.startswith("ML-DSA")]
_SLH_DSA = [one for one in KeyAlgorithm if one.value.startswith("SLH-DSA")]


class TestMaking:
    @pytest.mark.parametrize("algorithm", _CLASSIC, ids=str)
    def test_a_key_is_of_the_kind_that_was_asked_for(self, algorithm: KeyAlgorithm) -> None:
        assert generate_private_key(algorithm).algorithm is algorithm

    @pytest.mark.parametrize("algorithm", _ML_DSA, ids=str)
    def test_post_quantum_keys_are_made_where_the_library_can(self, algorithm: KeyAlgorithm) -> None:
        if is_supported(algorithm):
            assert generate_private_key(algorithm).algorithm is algorithm
        else:
            with pytest.raises(UnsupportedAlgorithmError, match=f"{algorithm.value} keys aren't supported"):
                generate_private_key(algorithm)

    @each_row("algorithm", _SLH_DSA, ids=str)
    def test_kinds_that_the_library_has_not_are_refused_in_words(self, algorithm: KeyAlgorithm) -> None:
        with pytest.raises(UnsupportedAlgorithmError, match=f"{algorithm.value} keys aren't supported"):
            generate_private_key(algorithm)
        with pytest.raises(UnsupportedAlgorithmError, match="aren't supported"):
            require_supported(algorithm)

    def test_each_key_is_another(self) -> None:
        keys = {generate_private_key(KeyAlgorithm.EC_P256).public_key for _ in range(20)}

        assert len(keys) == 20


class TestReading:
    @pytest.mark.parametrize("algorithm", [*_CLASSIC, *filter(is_supported, _ML_DSA)], ids=str)
    def test_a_key_is_read_as_it_was_written(self, algorithm: KeyAlgorithm) -> None:
        key = key_of(algorithm)

        for written in (key.pem(), key.pem().encode(), key.der()):
            assert load_private_key(written).der() == key.der()
        assert load_public_key(key.public_key.der) == key.public_key

    @each_row("algorithm", _CLASSIC, ids=str)
    @each_row("encoding", [serialization.Encoding.PEM, serialization.Encoding.DER])
    def test_the_older_forms_are_read_too(
        self, algorithm: KeyAlgorithm, encoding: serialization.Encoding
    ) -> None:
        key = key_of(algorithm)

        written = key.key.private_bytes(
            encoding, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )

        assert load_private_key(written).public_key == key.public_key

    def test_an_encrypted_key_says_so(self) -> None:
        written = key_of(KeyAlgorithm.EC_P256).key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )

        with pytest.raises(MalformedError, match="is encrypted"):
            load_private_key(written)

    @pytest.mark.parametrize(
        ("generate", "says"),
        [
            (lambda: rsa.generate_private_key(65537, 2560), "has 2560"),
            (lambda: rsa.generate_private_key(3, 2048), "exponent"),
            (lambda: ec.generate_private_key(ec.SECP256K1()), "secp256k1"),
            (ed25519.Ed25519PrivateKey.generate, "isn't RSA, ML-DSA or on one of NIST's curves"),
            (x25519.X25519PrivateKey.generate, "isn't RSA, ML-DSA or on one of NIST's curves"),
            (lambda: dsa.generate_private_key(2048), "isn't RSA, ML-DSA or on one of NIST's curves"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_keys_of_other_kinds_are_refused_in_words(
        self, generate: Callable[[], PrivateKeyTypes], says: str
    ) -> None:
        written = generate().private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

        with pytest.raises(UnsupportedAlgorithmError, match=says):
            load_private_key(written)

    @pytest.mark.parametrize("part", ["p", "q", "d", "dmp1", "dmq1", "iqmp"])
    def test_an_rsa_key_whose_numbers_do_not_belong_together_is_refused(self, part: str) -> None:
        key = key_of(KeyAlgorithm.RSA_2048)
        assert isinstance(key.key, rsa.RSAPrivateKey)
        number = getattr(key.key.private_numbers(), part)
        size = number.bit_length() // 8
        there, changed = (one.to_bytes(size + 1, "big")[-size:] for one in (number, number ^ 4))

        with pytest.raises(MalformedError, match="don't belong together"):
            load_private_key(key.der().replace(there, changed))

    @given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
    def test_any_bytes_raise_only_our_errors_and_none_shows_them(self, data: bytes) -> None:
        with pytest.raises(PkiError) as caught:
            load_private_key(data)

        assert caught.value.__cause__ is None
        with pytest.raises(PkiError):
            load_public_key(data)

    @given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), min_size=1, max_size=4))
    def test_changed_bytes_raise_only_our_errors(self, changes: list[tuple[int, int]]) -> None:
        for written, load in ((_KEY.der(), load_private_key), (_KEY.public_key.der, load_public_key)):
            der = bytearray(written)
            for place, byte in changes:
                der[place % len(der)] = byte
            try:
                read = load(bytes(der))
            except PkiError:
                continue
            assert read.algorithm in KeyAlgorithm

    def test_a_key_has_a_bound(self) -> None:
        with pytest.raises(MalformedError, match="at most 32768 bytes"):
            load_private_key("x" * 40_000)


class TestRecognizing:
    def test_a_public_key_is_known_by_the_hash_of_its_info(self) -> None:
        public = _KEY.public_key

        assert public.fingerprint == hashlib.sha256(public.der).hexdigest()
        assert public.pem().startswith("-----BEGIN PUBLIC KEY-----\n")

    def test_keys_are_equal_where_they_are_the_same_key(self) -> None:
        again, other = load_private_key(_KEY.pem()), key_of(KeyAlgorithm.EC_P256, "other")

        assert again.public_key == _KEY.public_key
        assert hash(again.public_key) == hash(_KEY.public_key)
        assert other.public_key != _KEY.public_key
        assert _KEY.public_key != "a text"

    def test_nothing_of_a_private_key_shows(self) -> None:
        assert repr(_KEY) == "PrivateKey(EC_prime256v1)"
        assert str(_KEY) == repr(_KEY)


def makes(algorithm: KeyAlgorithm, signature: SignatureAlgorithm) -> bool:
    try:
        signature_hash(algorithm, signature)
    except UnsupportedAlgorithmError:
        return False
    return True


class TestSigning:
    def test_a_signature_that_does_not_fit_is_refused_in_words(self) -> None:
        with pytest.raises(UnsupportedAlgorithmError, match="an RSA_2048 key can't sign with ML-DSA-44"):
            signature_hash(KeyAlgorithm.RSA_2048, SignatureAlgorithm.ML_DSA_44)

    @each_row("algorithm", KeyAlgorithm)
    def test_each_kind_of_key_signs_in_its_own_ways_only(self, algorithm: KeyAlgorithm) -> None:
        fitting = {one for one in SignatureAlgorithm if makes(algorithm, one)}

        assert default_signature_algorithm(algorithm) in fitting
        assert len(fitting) == (3 if algorithm in _CLASSIC else 1)


_KEY = key_of(KeyAlgorithm.EC_P256)
